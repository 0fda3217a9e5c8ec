package worktree

import (
	"os"
	"path/filepath"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/odb"
)

// Tracked visits the folders at and below dir, an absolute name, that files of a
// repository lie in though they are ignored, each after the one that holds it: whoever
// watches what is not ignored does not come to them by themselves. What is visited
// already is known by Watching. Which they are is found out when dir is a folder that
// Finding was called for.
func (c *Cache) Tracked(dir string, visit func(dir string) error) error {
	for _, name := range c.ignoredFolders(dir) {
		info, err := os.Lstat(name)
		if err != nil || !info.IsDir() || !c.watches(filepath.Dir(name)) {
			continue
		}
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// ignoredFolders are those at and below dir that were not watched when the folders were
// found last.
func (c *Cache) ignoredFolders(dir string) []string {
	c.mu.Lock()
	finding := c.finding[dir]
	delete(c.finding, dir)
	c.mu.Unlock()
	if finding {
		var ignored []string
		for _, name := range trackedFolders(dir) {
			if !c.watches(name) {
				ignored = append(ignored, name)
			}
		}
		c.mu.Lock()
		c.ignored[dir] = ignored
		c.mu.Unlock()
		return ignored
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var ignored []string
	for _, folders := range c.ignored {
		for _, name := range folders {
			if gitdir.Inside(dir, name) {
				ignored = append(ignored, name)
			}
		}
	}
	return ignored
}

// trackedFolders are the folders below root that files of its repository's index lie in.
func trackedFolders(root string) []string {
	repo, err := openFound(gitdir.Location{Root: root, Dir: root, Exists: true})
	if err != nil {
		return nil
	}
	defer repo.Close()
	index, err := repo.ReadIndex()
	if err != nil {
		return nil
	}
	var folders []string
	last := ""
	for i := range index.Entries {
		e := &index.Entries[i]
		dir := e.path[:strings.LastIndexByte(e.path, '/')+1]
		if dir == last || e.Mode == odb.ModeDir {
			continue
		}
		for at := shared(dir, last); at < len(dir); {
			at += strings.IndexByte(dir[at:], '/') + 1
			if name := repo.Work.Abs(dir[:at-1]); name != root && gitdir.Inside(root, name) {
				folders = append(folders, name)
			}
		}
		last = dir
	}
	return folders
}

// shared is how much of the two folders is one, up to a slash.
func shared(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n = i + 1
		}
	}
	return n
}
