package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"pillion/internal/fault"
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
	entries, err := p.ReadDir()
	if err != nil {
		return err
	}
	w := walker{ctx: ctx, options: o, visit: visit}
	var rules *ignoreRules
	if !o.IncludeIgnored {
		rules = ignoreRulesAt(p)
	}
	err = w.entries(p, entries, rules, 1)
	if errors.Is(err, fs.SkipAll) || errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

type walker struct {
	ctx     context.Context
	options WalkOptions
	visit   func(Entry) error
}

// entries visits the entries of the folder dir. Its rules are nil when ignored
// entries are wanted.
func (w *walker) entries(dir Path, entries []fs.DirEntry, rules *ignoreRules, depth int) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.isLeftOut(e, rules) {
			continue
		}
		p := dir.Join(e.Name())
		if !p.root.closed.none() && p.root.closed.refusal(p.Abs()) != "" {
			continue
		}
		err := w.visit(Entry{Path: p, Type: e.Type()})
		if err == nil && e.IsDir() && depth != w.options.MaxDepth {
			err = w.folder(p, e.Name(), rules, depth+1)
		}
		if errors.Is(err, fs.SkipDir) && e.IsDir() {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) isLeftOut(e fs.DirEntry, rules *ignoreRules) bool {
	switch {
	case e.Name() == versionStores[0]:
		return true
	case rules == nil:
		return false
	}
	return slices.Contains(versionStores, e.Name()) || rules.ignores(e.Name(), e.IsDir())
}

// folder goes down into p. A walk ends even on a file system that changes under
// it: a path can only get so long.
func (w *walker) folder(p Path, name string, above *ignoreRules, depth int) error {
	entries, err := p.ReadDir()
	if err == nil && len(p.rel) > maxWalkedPath {
		err = fault.New(fault.InvalidPath, "%s is too deep to be listed", fault.Quote(p.String()))
	}
	if err != nil {
		if w.options.Unreadable != nil {
			w.options.Unreadable(p, err)
		}
		return nil
	}
	rules := above
	if above != nil {
		rules = above.below(above.base+name+"/", ruleFolder{path: p, entries: entries})
	}
	err = w.entries(p, entries, rules, depth)
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// maxWalkedPath in bytes: no longer path could be resolved by name again.
const maxWalkedPath = 4096
