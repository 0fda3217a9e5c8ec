package tracking

import (
	"maps"
	"path/filepath"
	"strings"
	"time"

	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// expected is a change of ours to one path.
type expected struct {
	session string
	creates bool
	tree    bool      // a folder, or whatever was moved
	moved   bool      // it came with all that is in it
	gone    bool      // nothing stands there once it is made, nor below it
	version string    // what does; "" of a tree
	until   time.Time // zero: it is being made
}

// Making notes a change set before it is made. What is seen of its files is not
// judged before made is called, which says what stands there now; nil is nothing
// of it.
func (t *Tracker) Making(origin journal.Origin, s change.Set) (made func([]change.Outcome)) {
	all := expectedOf(origin.SessionID, s)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.made) > mostPaths {
		t.expire(time.Now())
	}
	maps.Copy(t.made, all)
	return func(outcomes []change.Outcome) { t.wasMade(all, outcomes) }
}

func expectedOf(session string, s change.Set) map[string]*expected {
	all := map[string]*expected{}
	for _, f := range s.Files {
		all[f.Target.Abs()] = &expected{session: session, creates: f.Operation() == change.Create}
	}
	for _, c := range s.Tree {
		note := func(p workspace.Path, e expected) {
			if !p.IsZero() {
				e.session, e.tree = session, true
				all[p.Abs()] = &e
			}
		}
		switch c.Operation {
		case change.Delete:
			note(c.Source, expected{gone: true})
		case change.Move:
			note(c.Source, expected{gone: true})
			note(c.Target, expected{creates: true, moved: true})
		}
		for _, p := range c.Missing {
			note(p, expected{creates: true})
		}
	}
	return all
}

func (t *Tracker) wasMade(all map[string]*expected, outcomes []change.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := time.Now().Add(t.keepTime)
	for abs, e := range all {
		e.until = until
		if outcomes == nil && t.made[abs] == e {
			delete(t.made, abs)
		}
	}
	for _, o := range outcomes {
		if o.File.Target.IsZero() || !o.Saved {
			continue
		}
		if e := all[o.File.Target.Abs()]; e != nil {
			e.version = o.Version
		}
	}
}

// byUs finds the change of ours that left what stands there. False: one is being
// made.
func (t *Tracker) byUs(abs, in string, p workspace.Path, there, isFile bool) (_ *expected, now bool) {
	t.mu.Lock()
	e, direct := t.made[abs], true
	if came := t.made[in]; e == nil && came != nil && came.moved {
		e, direct = came, false
	}
	if e == nil {
		e, direct = t.aboveOrBelow(abs, there), false
	}
	var copied expected
	if e != nil {
		copied = *e
	}
	t.mu.Unlock()
	switch {
	case e == nil:
		return nil, true
	case copied.until.IsZero():
		return nil, false
	case !direct:
		copied.creates = true
		return &copied, true
	case copied.tree && copied.gone != there:
		return &copied, true
	case !isFile || copied.version == "":
		return nil, true
	}
	data, _, err := p.ReadFile(mostBytes)
	if err != nil || document.Version(data) != copied.version {
		return nil, true
	}
	return &copied, true
}

// aboveOrBelow: what lay in a folder that we moved or deleted, or is a folder that
// was made for a file of ours. It needs t.mu.
func (t *Tracker) aboveOrBelow(abs string, there bool) *expected {
	for at, e := range t.made {
		if e.gone && !there && isBelow(at, abs) || e.creates && there && isBelow(abs, at) {
			return e
		}
	}
	return nil
}

func isBelow(dir, name string) bool {
	return strings.HasPrefix(name, dir+string(filepath.Separator))
}

// byEditor: the file holds what the buffer held before anything was seen, or the
// editor says that it saved it. False: it may still say so.
func (t *Tracker) byEditor(abs string, p workspace.Path, s *sighting) (by string, now bool) {
	t.mu.Lock()
	saved, told := t.saved[abs]
	saveTime := t.saveTime
	delete(t.saved, abs) // it was said of this change
	t.mu.Unlock()
	b := t.documents.Buffer(p)
	switch {
	case s.buffer != nil && s.buffer.IsOnDisk(),
		told && saved.After(s.first.Add(-saveTime)) && b != nil && b.IsOnDisk():
		return ByEditor, true
	case s.buffer != nil && time.Since(s.first) < saveTime:
		return "", false
	}
	return ByOutside, true
}

// expire needs t.mu.
func (t *Tracker) expire(now time.Time) {
	for abs, e := range t.made {
		if !e.until.IsZero() && now.After(e.until) {
			delete(t.made, abs)
		}
	}
	for abs, at := range t.saved {
		if now.Sub(at) > t.keepTime {
			delete(t.saved, abs)
		}
	}
}
