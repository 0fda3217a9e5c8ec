package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// WalkOptions say what a Walk shows. The zero value shows everything below the
// folder that is not ignored.
type WalkOptions struct {
	IncludeIgnored bool // ignore rules do not count; .git stays out all the same
	MaxDepth       int  // 1 is the folder's own entries; 0 is no limit

	// Unreadable, if set, is told of each folder below the first that could not
	// be listed, and was left out.
	Unreadable func(Path, error)
}

// Entry is what a Walk came upon. Symbolic links are shown as such and never
// followed.
type Entry struct {
	Path Path
	Type fs.FileMode // type bits alone
}

// Walk visits what lies below the folder p: an entry, then all below it, then
// the next in the byte order of names. What visit returns is honoured as by
// fs.WalkDir: fs.SkipDir on a folder leaves out what is in it, on anything else
// the rest of its folder; fs.SkipAll ends the walk without an error.
//
// Ignore rules are those of the comment in ignore.go; they never apply to p
// itself, since whoever names an ignored folder wants to see it. Memory is
// bounded by the entries of the folders on the way down to the deepest one.
func (p Path) Walk(ctx context.Context, o WalkOptions, visit func(Entry) error) error {
	return p.WalkListed(ctx, o, false, func(dir *Contents, e *Listed) error {
		return visit(Entry{Path: dir.Folder.Join(e.Name), Type: e.Type})
	})
}

// WalkListed is Walk in the words of a List, with sizes and times or without. The entry that
// is visited has nothing of what is below it.
func (p Path) WalkListed(ctx context.Context, o WalkOptions, sizes bool, visit func(dir *Contents, e *Listed) error) error {
	w := walker{lister: lister{ctx: ctx, options: o, sizes: sizes}, visit: visit}
	if err := w.open(p); err != nil {
		return err
	}
	defer w.top.Close()
	err := w.folder(o.listing(p))
	if errors.Is(err, fs.SkipAll) || errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// walker reads one folder after the other, and keeps those on the way down.
type walker struct {
	lister
	reader folderReader
	visit  func(dir *Contents, e *Listed) error
}

func (w *walker) folder(at listing) error {
	below, c := w.read(&w.reader, at), at.contents
	switch {
	case c.Err == nil:
	case at.depth == 1:
		return c.Err
	case w.options.Unreadable != nil:
		w.options.Unreadable(c.Folder, c.Err)
	}
	for i := range c.Entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		e := &c.Entries[i]
		enters := e.Below != nil
		e.Below = nil
		err := w.visit(c, e)
		if enters {
			next := below[0]
			below[0], below = listing{}, below[1:] // what was read of it is let go once it is left
			if err == nil {
				err = w.folder(next)
			}
		}
		if errors.Is(err, fs.SkipDir) && e.Type.IsDir() {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isLeftOut(rules *ignoreRules, base, name string, isDir bool) bool {
	switch {
	case name == versionStores[0]:
		return true
	case rules == nil:
		return false
	}
	return slices.Contains(versionStores, name) || rules.ignores(base, name, isDir)
}

// maxWalkedPath in bytes: no longer path could be resolved by name again. A walk ends even on a
// file system that changes under it.
const maxWalkedPath = 4096
