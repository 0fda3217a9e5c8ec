package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

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
	at := walked{dir: p}
	if !o.IncludeIgnored {
		at.rules, at.base = ignoreRulesAt(p)
	}
	err = w.entries(at, entries, 1)
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

// walked is a folder on the way, with the rules in it, which are nil when ignored
// entries are wanted.
type walked struct {
	dir   Path
	rules *ignoreRules
	base  string
}

func (w *walker) entries(in walked, entries []fs.DirEntry, depth int) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if isLeftOut(in.rules, in.base, e.Name(), e.IsDir()) {
			continue
		}
		p := in.dir.Join(e.Name())
		if !p.root.closed.none() && p.root.closed.refusal(p.Abs()) != "" {
			continue
		}
		err := w.visit(Entry{Path: p, Type: e.Type()})
		if err == nil && e.IsDir() && depth != w.options.MaxDepth {
			err = w.folder(walked{p, in.rules, in.base + e.Name() + "/"}, depth+1)
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

func isLeftOut(rules *ignoreRules, base, name string, isDir bool) bool {
	switch {
	case name == versionStores[0]:
		return true
	case rules == nil:
		return false
	}
	return slices.Contains(versionStores, name) || rules.ignores(base, name, isDir)
}

// folder goes down, with the rules of the folder above. A walk ends even on a file
// system that changes under it: a path can only get so long.
func (w *walker) folder(at walked, depth int) error {
	entries, err := at.dir.ReadDir()
	if err == nil && len(at.dir.rel) > maxWalkedPath {
		err = at.dir.tooDeep()
	}
	if err != nil {
		if w.options.Unreadable != nil {
			w.options.Unreadable(at.dir, err)
		}
		return nil
	}
	if at.rules != nil {
		at.rules = at.rules.below(at.base, ruleFolder{path: at.dir, listed: func(name string) bool {
			_, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			return found
		}})
	}
	err = w.entries(at, entries, depth)
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

func (p Path) tooDeep() error {
	return fault.New(fault.InvalidPath, "%s is too deep to list", fault.Quote(p.String()))
}

// maxWalkedPath in bytes: no longer path could be resolved by name again.
const maxWalkedPath = 4096
