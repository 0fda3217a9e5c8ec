// Package tracking says what changed in the workspace, and who changed it: an agent
// through a call of ours, the user's editor, or somebody outside.
//
// New gives a Tracker. It is told of changes by the tree that is watched (Follow), by
// the editor (Changed, Saved) and by whoever makes change sets (Making); it tells of
// them in lists, some time later and never many. What it tells is for people and for
// agents that want to look again: nothing is right because of it. Who changed a file
// is found by content: what stands there is what the agent's change left, or what the
// editor's buffer held before. A command that an agent runs is outside: nobody can
// tell its writes from others' (change.Observer looks at what it leaves).
package tracking

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/watch"
)

// Change is one file or folder that is another now.
type Change struct {
	Path string `json:"path"` // as tools print it; empty: look again at everything
	Type string `json:"type"`
	By   string `json:"by"` // "agent:<session>", ByEditor or ByOutside
}

// What a Change says.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"

	ByEditor  = "editor"
	ByOutside = "outside"
	byAgent   = "agent:" // and its session
)

const (
	gather    = 50 * time.Millisecond  // what comes within this is told as one
	saveTime  = 400 * time.Millisecond // an editor says within this that it saved
	keepTime  = 10 * time.Second       // changes of ours are told of within this
	mostPaths = 2000                   // are waited with; beyond that nobody reads a list
	mostTold  = 200
	mostBytes = 16 << 20 // of a file that is read to tell who wrote it
)

// Tracker gathers changes. Its fields are set by New alone.
type Tracker struct {
	documents *document.Store
	tell      func([]Change)

	mu       sync.Mutex    // guards all below
	saveTime time.Duration // saveTime and keepTime, but for tests
	keepTime time.Duration
	pending  map[string]*sighting
	tooMany  bool
	made     map[string]*expected
	saved    map[string]time.Time
	timer    *time.Timer // runs while something is pending
	closed   bool
	flushing sync.WaitGroup
}

// sighting is a path of which something was seen.
type sighting struct {
	first  time.Time
	new    bool             // it came into being
	in     string           // the folder that came with it
	buffer *document.Buffer // that was open when it was first seen
}

// New makes a tracker. tell is called from one goroutine at a time, and must not block.
func New(documents *document.Store, tell func([]Change)) *Tracker {
	return &Tracker{
		documents: documents, tell: tell,
		saveTime: saveTime, keepTime: keepTime, pending: map[string]*sighting{}, made: map[string]*expected{}, saved: map[string]time.Time{},
	}
}

// Follow takes what a tree tells.
func (t *Tracker) Follow(events []watch.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		switch {
		case e.Op == watch.Lost:
			t.tooMany = true
		case e.Op != watch.Attributes && !workspace.IsTemp(e.Name):
			t.note(filepath.Join(e.Dir, e.Name), e.Op == watch.Created)
		}
	}
	t.wait(gather)
}

// Changed takes what the editor's own watcher tells, where nothing better does.
func (t *Tracker) Changed(uris []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range uris {
		if p, ok := t.documents.Workspace().FromURI(uri); ok && !workspace.IsTemp(p.Base()) {
			t.note(p.Abs(), false)
		}
	}
	t.wait(gather)
}

// Saved notes that the editor wrote this file.
func (t *Tracker) Saved(p workspace.Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.saved[p.Abs()] = time.Now()
}

// note needs t.mu.
func (t *Tracker) note(abs string, isNew bool) {
	switch {
	case t.closed || t.pending[abs] != nil:
		return
	case len(t.pending) >= mostPaths:
		t.tooMany = true
		return
	}
	s := &sighting{first: time.Now(), new: isNew}
	if p, ok := t.documents.Workspace().Place(abs); ok {
		s.buffer = t.documents.Buffer(p)
	}
	t.pending[abs] = s
}

// wait needs t.mu.
func (t *Tracker) wait(d time.Duration) {
	if t.closed || t.timer != nil || len(t.pending) == 0 && !t.tooMany {
		return
	}
	t.flushing.Add(1)
	t.timer = time.AfterFunc(d, func() {
		defer t.flushing.Done()
		t.flush()
	})
}

// Close ends the telling.
func (t *Tracker) Close() {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil && t.timer.Stop() {
		t.flushing.Done()
	}
	t.mu.Unlock()
	t.flushing.Wait()
}

// flush tells of what was seen, but for what it is too early to say anything about.
// t.timer is there all the while, so there is one flush at a time.
func (t *Tracker) flush() {
	t.mu.Lock()
	seen, tooMany := t.pending, t.tooMany
	t.pending, t.tooMany = map[string]*sighting{}, false
	t.mu.Unlock()

	tooMany = t.unfold(seen) || tooMany
	var out []Change
	later := map[string]*sighting{}
	ignored := workspace.NewIgnored()
	for abs, s := range seen {
		c, now := t.judge(ignored, abs, s)
		switch {
		case !now:
			later[abs] = s
		case c.Path != "":
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	if tooMany || len(out) > mostTold {
		out = append(out[:min(len(out), mostTold)], Change{Type: Changed, By: ByOutside})
	}
	if len(out) > 0 {
		t.tell(out)
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	for abs, s := range later {
		t.pending[abs] = s
	}
	t.expire(time.Now())
	t.timer = nil
	t.wait(gather)
}

// unfold adds what is in folders that are new: it may have been there before they
// were watched. True: there is too much of it.
func (t *Tracker) unfold(seen map[string]*sighting) (tooMany bool) {
	for abs, s := range maps.Clone(seen) {
		p, ok := t.documents.Workspace().Place(abs)
		if !ok || !s.new {
			continue
		}
		if info, err := p.Lstat(); err != nil || !info.IsDir() || p.IsIgnored(true) {
			continue
		}
		p.Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error { //nolint:errcheck // it is gone again
			if len(seen) > mostPaths {
				tooMany = true
				return fs.SkipAll
			}
			if name := e.Path.Abs(); seen[name] == nil {
				seen[name] = &sighting{first: s.first, new: true, in: abs}
			}
			return nil
		})
	}
	return tooMany
}

// judge makes a Change of what was seen. False: it cannot be told yet. A Change
// without a path is none.
func (t *Tracker) judge(ignored *workspace.Ignored, abs string, s *sighting) (_ Change, now bool) {
	p, ok := t.documents.Workspace().Place(abs)
	if !ok || p.IsRoot() || slices.ContainsFunc(strings.Split(p.Rel(), "/"), workspace.IsTemp) {
		return Change{}, true
	}
	info, err := p.Lstat()
	there := err == nil
	if !there && s.new || ignored.Has(p, there && info.IsDir()) {
		return Change{}, true // come and gone, or nobody's business
	}
	c := Change{Path: p.String(), Type: Changed}
	switch {
	case !there:
		c.Type = Deleted
	case s.new && s.buffer == nil:
		c.Type = Created
	}
	mine, now := t.byUs(abs, s.in, p, there, there && info.Mode().IsRegular())
	switch {
	case !now:
		return Change{}, false
	case mine != nil:
		c.By = byAgent + mine.session
		if mine.session == "" { // what the user puts back
			c.By = ByEditor
		}
		if c.Type == Created && !mine.creates {
			c.Type = Changed
		}
		return c, true
	}
	c.By, now = t.byEditor(abs, p, s)
	return c, now
}
