package relay

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// Find gives the sidecar whose workspace holds the folder cwd: an editor's before a
// watch, then the one with the longest matching root, and among equals the window
// that was focused last.
// Sidecars that are gone are passed over and their entries removed.
func Find(cwd string) (Entry, bool, error) {
	folder, found, err := candidates(cwd)
	for _, c := range found {
		if !isDead(c.entry.Socket) {
			return c.entry, true, nil
		}
		c.entry.remove(folder, c.id)
	}
	return Entry{}, false, err
}

// FindAll gives every sidecar whose workspace holds the folder cwd, in the order in
// which Find takes them. It removes nothing.
func FindAll(cwd string) ([]Entry, error) {
	_, found, err := candidates(cwd)
	var out []Entry
	for _, c := range found {
		if !isDead(c.entry.Socket) {
			out = append(out, c.entry)
		}
	}
	return out, err
}

// candidates are the entries of the registry that hold the folder cwd, the best first, dead or
// alive.
func candidates(cwd string) (folder string, found []candidate, err error) {
	folder, err = Folder()
	if err != nil {
		return "", nil, err
	}
	registered := entries(folder)
	if len(registered) == 0 {
		return folder, nil, nil
	}
	above, err := ancestors(cwd)
	if err != nil {
		return folder, nil, err
	}
	for id, e := range registered {
		if depth, ok := e.holds(above); ok {
			found = append(found, candidate{id: id, entry: e, depth: depth})
		}
	}
	slices.SortFunc(found, candidate.compare)
	return folder, found, nil
}

// candidate is an entry with how far its root is above the folder.
type candidate struct {
	id    string
	entry Entry
	depth int
}

func (c candidate) compare(other candidate) int {
	return cmp.Or(
		cmp.Compare(c.entry.Kind, other.entry.Kind), // KindEditor is the least
		c.depth-other.depth,
		other.entry.Focused.Compare(c.entry.Focused),
		cmp.Compare(c.id, other.id),
	)
}

// ancestors are the folder, without symlinks, and all folders above it.
func ancestors(cwd string) ([]os.FileInfo, error) {
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	var out []os.FileInfo
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, info)
		parent := filepath.Dir(dir)
		if parent == dir {
			return out, nil
		}
		dir = parent
	}
}

// holds finds the root that is nearest above. Folders are compared by what they
// are, not by name: links and letter case do not matter.
func (e Entry) holds(above []os.FileInfo) (depth int, ok bool) {
	for _, root := range e.Roots {
		info, err := os.Stat(root)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(above, func(dir os.FileInfo) bool { return os.SameFile(dir, info) })
		if at >= 0 && (!ok || at < depth) {
			depth, ok = at, true
		}
	}
	return depth, ok
}
