package gitdir

import (
	"os"
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// Location is a folder or file of the workspace, with the symbolic links on the
// way to it resolved.
type Location struct {
	Root, Dir string
	Exists    bool
}

// Locate resolves dir inside root. dir itself may be a link, since git tracks
// links, or be gone.
func Locate(root, dir string) (Location, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return Location{}, fault.From(err)
	}
	p := Location{Root: resolved, Dir: resolved, Exists: true}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return Location{}, fault.New(fault.PathOutsideWorkspace, "%s is outside the workspace; give a path inside it", fault.Quote(dir))
	}
	if rel == "." {
		return p, nil
	}
	p.Dir = filepath.Join(resolved, rel)
	if plainFolders(resolved, filepath.Dir(rel)) {
		p.Exists = gitfile.Exists(p.Dir)
		return p, nil
	}
	p.Dir, p.Exists = resolveParent(p.Dir)
	if !Inside(resolved, p.Dir) {
		return Location{}, fault.New(fault.PathOutsideWorkspace, "%s leads out of the workspace; give a path inside it", fault.Quote(rel))
	}
	return p, nil
}

// plainFolders reports whether no link is on the way from dir to the folder rel in it.
func plainFolders(dir, rel string) bool {
	if rel == "." {
		return true
	}
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		dir = filepath.Join(dir, name)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// resolveParent resolves the links in the path of name, but not name itself.
func resolveParent(name string) (resolved string, exists bool) {
	parent, base := filepath.Dir(name), filepath.Base(name)
	if at, err := filepath.EvalSymlinks(parent); err == nil {
		at = filepath.Join(at, base)
		return at, gitfile.Exists(at)
	}
	if parent == name {
		return name, false
	}
	parent, _ = resolveParent(parent)
	return filepath.Join(parent, base), false
}

// Inside reports whether name is dir or lies in it; both are clean.
func Inside(dir, name string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
