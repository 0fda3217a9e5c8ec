package search

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"pillion/workspace"
)

// Files is the list of files that all searching tools share. It is kept for as long
// as it is certain to be right: whoever watches the folders tells of all changes
// (Changed, Lost), and Settle says when they have been told. Without it, or where it
// fails, folders are listed anew each time; so is what is ignored, which nobody
// watches. A nil Files keeps nothing.
//
// What is kept is exact in names, and in the sizes and times of what is written
// through the names in the folder. A file that is written through a memory map, or
// through another hard link, may be listed with its size and time of before.
type Files struct {
	settle func(context.Context) error
	rescan func()
	turn   chan struct{} // to make or mend a list: one after the other
	making making

	indexing indexing
	told     atomic.Uint64 // changes

	mu   sync.Mutex // guards all below
	kept map[string]*kept
	// around are the rules that held when the folders to watch were found last, by
	// workspace folder: see workspace.Path.RulesAround.
	around map[string]string
	// within are those of the repositories in a folder, as they were before the folders
	// to watch were found last: see workspace.Facts.
	within map[string]string
}

// NewFiles makes a Files. settle returns nil when Changed and Lost have been told of
// all that happened before; rescan has the folders that are not ignored found anew,
// and Lost told then.
func NewFiles(settle func(context.Context) error, rescan func()) *Files {
	return &Files{settle: settle, rescan: rescan, turn: make(chan struct{}, 1), kept: map[string]*kept{}, around: map[string]string{}, within: map[string]string{}}
}

// kept is the list of one workspace folder. What changed since is by folder, each
// with the names that came or went.
type kept struct {
	of      atomic.Pointer[workspace.Contents] // nil while it is made
	facts   workspace.Facts                    // of it; for who has the turn
	sizes   bool
	changed map[string]map[string]bool
	spoilt  bool // too much has changed to be mended
}

// Tests alone set the first two.
var (
	// mostListed is how many entries a list may have; what is larger is walked, and
	// nothing of it held.
	mostListed = 1_000_000
	// mostKept is how many entries the list of a workspace folder may have to be kept.
	mostKept = 300_000
)

// mostChanged is how many folders are listed again one by one.
const mostChanged = 200

// Changed takes that something happened to the entry name of the folder dir. It came
// or went, or is a folder with another mode; or it was only written.
func (f *Files) Changed(dir, name string, cameOrWent bool) {
	f.told.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	for root, k := range f.kept {
		if dir != root && !strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/") {
			continue
		}
		f.indexing.changed(k, dir, name, cameOrWent)
		if k.changed[dir] == nil && len(k.changed) < mostChanged {
			k.changed[dir] = map[string]bool{}
		}
		if k.spoilt = k.spoilt || k.changed[dir] == nil; cameOrWent && !k.spoilt {
			k.changed[dir][name] = true
		}
	}
}

// Lost takes that anything may have happened, or that ignore files changed.
func (f *Files) Lost() {
	f.told.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.kept) // one that is being made or mended will not be found either
}

// Finding is called before the folders that are to be watched are found below the
// workspace folder p.
func (f *Files) Finding(p workspace.Path) {
	around := p.RulesAround()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.around[p.Abs()] = around
}

// List is what lies below the folder p. It fails with workspace.ErrTooMany. The same
// list comes twice only if nothing has changed between.
func (f *Files) List(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool) (*workspace.Contents, error) {
	list, _, err := f.list(ctx, p, o, sizes)
	return list, err
}

// list is List, with the list of the workspace folder if it is kept, so that every change
// from now on will be told.
func (f *Files) list(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool) (*workspace.Contents, *kept, error) {
	anew := func() (*workspace.Contents, *kept, error) {
		list, err := p.List(ctx, o, sizes, mostListed)
		return list, nil, err
	}
	if f == nil {
		return anew()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err // also where a list is at hand
	}
	unsettled := o.IncludeIgnored || o.MaxDepth > 1 || !f.keeps(p, o) || f.settle(ctx) != nil
	defer f.making.begin()()
	if unsettled {
		return anew()
	}
	list, k, err := f.current(ctx, p.Top(), sizes)
	if err != nil {
		return nil, nil, err
	}
	found, ok := list.Find(p)
	switch {
	case !ok || found.Err != nil:
		return anew()
	case o.MaxDepth == 1:
		return found.Shallow(), k, nil
	}
	return found, k, nil
}

// Told counts the changes that happened so far. False: nobody watches well enough to know.
func (f *Files) Told(ctx context.Context) (uint64, bool) {
	if f == nil || f.settle(ctx) != nil {
		return 0, false
	}
	return f.told.Load(), true
}

// keeps says whether the list of p's workspace folder is, or is worth being, kept: it
// is made for whoever wants all of it, and then serves those who want a part.
func (f *Files) keeps(p workspace.Path, o workspace.WalkOptions) bool {
	root := p.Top()
	if root.HasOthers() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return p.IsRoot() && o.MaxDepth == 0 || f.kept[root.Abs()] != nil
}

// current is the list of the workspace folder root as it is after the last settle, and
// what is kept of it, if it is.
func (f *Files) current(ctx context.Context, root workspace.Path, sizes bool) (*workspace.Contents, *kept, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	around := root.RulesAround()
	if k, changed := f.take(root.Abs(), around, sizes); k != nil {
		list, err := k.of.Load().Renewed(ctx, changed, k.sizes, mostKept)
		if err == nil && list != k.of.Load() {
			k.facts = list.Facts()
		}
		if err == nil && k.facts.Whole && f.watched(root, around, k.facts) {
			k.of.Store(list)
			return list, k, nil
		}
	}
	k := f.begin(root.Abs())
	list, err := root.List(ctx, workspace.WalkOptions{}, sizes, mostListed)
	if err == nil {
		k.facts = list.Facts()
	}
	if err != nil || k.facts.Total > mostKept || !k.facts.Whole || !f.watched(root, around, k.facts) {
		f.drop(root.Abs())
		return list, nil, err
	}
	k.sizes = sizes
	k.of.Store(list)
	return list, k, nil
}

// take gives what is kept of a root, if it can be used, and what has changed in it
// since, which is the caller's to see to.
func (f *Files) take(root, around string, sizes bool) (*kept, map[string]map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.kept[root]
	if k == nil || k.of.Load() == nil || k.spoilt || sizes && !k.sizes || f.around[root] != around {
		return nil, nil
	}
	changed := k.changed
	k.changed = map[string]map[string]bool{}
	return k, changed
}

// begin notes what changes from now on.
func (f *Files) begin(root string) *kept {
	k := &kept{changed: map[string]map[string]bool{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[root] = k
	return k
}

func (f *Files) drop(root string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.kept, root)
}

// watched says whether the folders that are watched are those of the rules by which
// list was made. If not, they will be.
func (f *Files) watched(root workspace.Path, around string, list workspace.Facts) bool {
	now, within := root.RulesAround(), list.RulesWithin()
	f.mu.Lock()
	then, found := f.around[root.Abs()]
	same := f.within[root.Abs()] == within
	f.within[root.Abs()] = within
	f.mu.Unlock()
	if found && then != now || !same {
		f.rescan()
	}
	return found && then == now && now == around && same
}

// Visit visits what lies below the folder p, in the order of a walk, also where there are too
// many to be listed.
func (f *Files) Visit(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool, visit func(dir *workspace.Contents, e *workspace.Listed) error) error {
	c, err := f.List(ctx, p, o, sizes)
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		return p.WalkListed(ctx, o, sizes, visit)
	case err != nil:
		return err
	}
	return c.Walk(visit)
}

// making is how many lists are being made.
type making struct {
	mu   sync.Mutex // guards all below
	now  int
	none chan struct{} // closed when there are none; nil before the first
}

func (m *making) begin() (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now++; m.now == 1 {
		m.none = make(chan struct{})
	}
	return m.finish
}

func (m *making) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now--; m.now == 0 {
		close(m.none)
	}
}

// Urgent says until done is called that somebody who is waited for goes through folders,
// as a list that is made does: see GiveWay.
func (f *Files) Urgent() (done func()) {
	if f == nil {
		return func() {}
	}
	return f.making.begin()
}

// GiveWay returns when no list is being made, at the latest when ctx ends. Who looks
// through all folders and is not waited for asks it before each: the first list that an
// agent wants comes when the folders to watch are found, and both need all processors.
func (f *Files) GiveWay(ctx context.Context) {
	f.making.mu.Lock()
	busy, none := f.making.now > 0, f.making.none
	f.making.mu.Unlock()
	if !busy {
		return
	}
	select {
	case <-none:
	case <-ctx.Done():
	}
}
