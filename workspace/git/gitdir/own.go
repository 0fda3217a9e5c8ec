package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/workspace/git/gitfile"
)

// CheckOwn refuses a repository that lies outside of its work tree top and of the open folders,
// and is that of another work tree: a folder that came from anywhere would have it read. That of a
// linked work tree or submodule names top as well, and one made with --separate-git-dir is no work
// tree's .git. So it does links in it.
func CheckOwn(open []string, top, gitDir string) error {
	own, err := filepath.EvalSymlinks(gitDir)
	if err != nil {
		return fault.From(err)
	}
	common, err := filepath.EvalSymlinks(CommonDirOf(own))
	if err != nil {
		return fault.From(err)
	}
	isOpen := func(path string) bool {
		return slices.ContainsFunc(open, func(folder string) bool { return Inside(folder, path) })
	}
	if !isOpen(own) && !isTops(own, top) && mayBeAnothers(own, common) && !PointsBack(own, top) {
		return elsewhere(top, own)
	}
	if common != own && !IsCommonOf(common, own) {
		return elsewhere(top, common)
	}
	for _, dir := range slices.Compact([]string{own, common}) {
		// The first four are looked at by themselves, run, or are not git's.
		found, err := links(dir, func(rel string, _ fs.DirEntry) bool {
			return rel == "objects" || rel == "hooks" || rel == "modules" || rel == "lfs" || rel == "info/exclude"
		})
		if err != nil {
			return err
		}
		for _, rel := range found {
			to, err := os.Readlink(filepath.Join(dir, rel))
			if isReference := rel == "HEAD" || IsReference(rel); err != nil || !isReference || !IsReference(to) { // symbolic references of old are links
				return leadsOut(filepath.Join(dir, rel))
			}
		}
	}
	return checkObjects(filepath.Join(common, "objects"), func(path string) bool { return Inside(common, path) || isOpen(path) }, 0)
}

func leadsOut(link string) error {
	return fault.New(fault.GitError, "%s is a link that leads out of its place in the repository, and git would read what is there", fault.Quote(link)).WithHint("ask the user about it")
}

func elsewhere(top, at string) error {
	return fault.New(fault.GitError, "the repository of %s leads out of it, to %s, which does not name this folder", fault.Quote(top), fault.Quote(at)).
		WithHint("ask the user: of a linked work tree that was moved, git worktree repair fixes that")
}

// isTops: it is the folder .git of the work tree itself.
func isTops(own, top string) bool {
	real, err := filepath.EvalSymlinks(top)
	return err == nil && own == filepath.Join(real, ".git")
}

// mayBeAnothers: it is, or lies in, some work tree's .git, or has none.
func mayBeAnothers(own, common string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(own), "/"), ".git") {
		return true
	}
	config, err := ReadConfig(Files(own, common)...)
	return err != nil || config.Bool("core.bare", false)
}

// mostLooked bounds a look for links. Tests have less.
var mostLooked = 200_000

// links are the links below a folder of a repository, by their paths in it, but for what leaveOut names: git would read
// another's files through them, or take any file for one of its own and print lines of it.
func links(dir string, leaveOut func(rel string, e fs.DirEntry) bool) (found []string, err error) {
	looked := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if looked++; looked > mostLooked {
			return fs.SkipAll
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil: // git reads what it finds by name
			return fault.New(fault.GitError, "%s cannot be listed, and git reads whatever has a name that it looks for", fault.Quote(path)).WithHint("chmod u+rwx opens it")
		case path == dir:
			return nil
		}
		rel, _ := filepath.Rel(dir, path) //nolint:errcheck // it is below
		rel = filepath.ToSlash(rel)
		switch out := leaveOut(rel, e); {
		case out && e.IsDir():
			return fs.SkipDir
		case !out && e.Type()&fs.ModeSymlink != 0:
			found = append(found, rel)
		}
		return nil
	})
	if looked > mostLooked {
		return nil, fault.New(fault.GitError, "the repository in %s has more than %d files beside its objects, too many to look at each", fault.Quote(dir), mostLooked).
			WithHint("git pack-refs --all and git gc make them fewer")
	}
	return found, err
}

// mostNested is how deep git follows alternates.
const mostNested = 5

// checkObjects follows the objects that are taken from elsewhere, as git does: from where they really are. git prints a
// line that names no folder.
func checkObjects(named string, may func(path string) bool, depth int) error {
	objects, err := filepath.EvalSymlinks(named)
	switch {
	case err != nil:
		return fault.From(err)
	case depth == 0 && !may(objects):
		return leadsOut(named)
	case depth > 0:
		may = func(path string) bool { return Inside(objects, path) }
	}
	found, err := links(objects, func(rel string, e fs.DirEntry) bool { return e.IsDir() && len(rel) == 2 }) // loose ones hold what their names say
	if err != nil {
		return err
	}
	for _, rel := range found {
		if at, err := filepath.EvalSymlinks(filepath.Join(objects, rel)); err != nil || strings.HasPrefix(rel, "info") || !may(at) {
			return leadsOut(filepath.Join(objects, rel))
		}
	}
	file := filepath.Join(objects, "info", "alternates")
	text, err := gitfile.Read(file)
	switch {
	case depth > mostNested, errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.From(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		quoted := line[0] == '"' // which git takes for a path in C's quotes
		line = way.Join(objects, line)
		for _, folder := range slices.Compact([]string{line, filepath.Clean(line)}) { // older versions of git go it as it is written
			if info, err := os.Stat(folder); quoted || err != nil || !info.IsDir() {
				return fault.New(fault.GitError, "%s names what is no folder", fault.Quote(file)).WithHint("ask the user about it")
			}
			if err := checkObjects(folder, may, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// PointsBack says whether a repository elsewhere is that of a linked work tree or submodule at top.
func PointsBack(gitDir, top string) bool {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return false
	}
	same := func(path string) bool { return Physical(path, gitDir) == real }
	if text, err := gitfile.Read(filepath.Join(gitDir, "gitdir")); err == nil && same(way.Dir(way.Join(gitDir, strings.TrimSpace(string(text))))) {
		return true
	}
	config, err := ReadConfig(Files(gitDir, CommonDirOf(gitDir))...)
	if err != nil {
		return false
	}
	workTree := config.Get("core.worktree")
	return workTree != "" && same(workTree)
}

// IsCommonOf says whether common is the folder that a linked work tree's shares with others.
func IsCommonOf(common, gitDir string) bool {
	return filepath.Base(filepath.Dir(gitDir)) == "worktrees" && filepath.Dir(filepath.Dir(gitDir)) == common
}
