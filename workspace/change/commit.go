package change

import (
	"context"
	"errors"
	"slices"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// Editor holds the buffers that are open. Package rpc implements it over the
// wire; nil means that nothing is ever open.
type Editor interface {
	// Takes reports whether a change of this open file goes through the editor.
	// If not, it is written to disk and the editor reloads it.
	Takes(f *document.File) bool
	// Edit applies the edits as one undo step, only if the buffer is at exactly
	// the version named.
	Edit(ctx context.Context, e BufferEdit) (BufferResult, error)
}

// BufferEdit is document/edit: a change of one open buffer.
type BufferEdit struct {
	URI     string              `json:"uri"`
	Version int32               `json:"version"`
	Edits   []document.TextEdit `json:"edits"`
	Save    bool                `json:"save"`
	Label   string              `json:"label"`
}

// BufferResult is the editor's answer to a BufferEdit.
type BufferResult struct {
	Applied bool   `json:"applied"`
	Version int32  `json:"version"`
	Dirty   bool   `json:"dirty"`
	Reason  string `json:"reason,omitempty"`
}

// Outcome is what became of one file.
type Outcome struct {
	File      File        // zero where Tree is set
	Tree      *TreeChange // what became of a change of the tree
	Operation Operation
	Hunks     []diff.Hunk
	Bytes     int    // bytes of the whole content, as they stand on disk or would
	Version   string // of the content as it is now
	Text      string // that content, decoded
	IsBytes   bool   // the text is the content's bytes
	Saved     bool   // false: it is unsaved text in the user's buffer
	Formatted bool   // the editor changed the text when it saved
	Backup    string // where a readable copy of what was there is, "" without one
}

// ErrMoved is wrapped by every failure that means: the plan rests on a file that
// has changed since. Planning again may succeed.
var ErrMoved = errors.New("the file changed since it was read")

// Committer makes change sets.
type Committer struct {
	Documents *document.Store
	Editor    Editor
	// Journal is where each set is written down before it is made; nil: nowhere, and
	// nothing can be reverted.
	Journal *Journal

	// Locks are held while a set is made: between a look at a file and the look at
	// what was displaced there may be a text that is taken back again, on which no
	// other change must be made.
	Locks Locks

	// between is called by Commit between its phases; for tests, in which the world
	// moves just then, or ends.
	between func(phase string)
	// Making hears of each set before it is made, and what it gives back of what stands
	// there then, nil if nothing was made. Nil: nobody is told.
	Making func(origin journal.Origin, s Set) (made func([]Outcome))
	// Git reads repositories.
	Git *git.Reader
	// Observer keeps what commands change. Nil: nobody does.
	Observer *Observer

	calls handle.Calls
	late  displacedFiles
}

// step is the change of one file, in the phases that a set needs to be made as a
// whole: everything that can fail for its own reasons happens in stage.
type step interface {
	// record is what the journal keeps of the step, nil of one that changes nothing. It
	// is called once, before stage; both may run while the journal is written.
	record() (*journal.Record, error)
	stage() error
	apply(ctx context.Context) error
	// undo takes back what apply did, if anything. It fails rather than take back
	// what somebody else did since.
	undo(ctx context.Context) error
	finish() Outcome
	discard(left *remains) // removes what stage left
}

// Commit makes the set: all of it, or, when it fails, none. It is in the journal
// before anything is made. Of a set that is made but for entries that could not be removed
// there are outcomes and an error, which names what remains.
func (c *Committer) Commit(ctx context.Context, s Set, origin journal.Origin) (out []Outcome, _ error) {
	unlock, err := c.Locks.lock(ctx, s.paths())
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer c.Observer.claim(s.paths())()
	if c.Making != nil {
		made := c.Making(origin, s)
		defer func() { made(out) }()
	}
	steps := c.steps(s)
	w, err := c.records(steps, origin, s.OnlyRecorded)
	if err != nil {
		return nil, discardAll(steps).addTo(err)
	}
	out, err = c.make(ctx, s, steps, w)
	// Only then has it ended: a set that has is not looked into at the next start, but for
	// the temporary files that stayed.
	left := discardAll(steps)
	w.note(left)
	if err != nil {
		return nil, w.failed(left.addTo(err))
	}
	if s.Backup {
		w.backup(out)
	}
	if err := left.undeleted(); err != nil {
		return out, w.failed(err)
	}
	if len(left.temps) > 0 {
		c.Journal.report(left.notes()[0] + "; the next start tries again")
	}
	w.done(steps, out)
	return out, nil
}

func (c *Committer) make(ctx context.Context, s Set, steps []step, w *written) ([]Outcome, error) {
	if err := w.write(steps); err != nil {
		return nil, err
	}
	c.reached("staged")
	for i, order := 0, buffersFirst(steps); i < len(order); i++ {
		err := ctx.Err()
		if again, ok := order[i].(refresher); ok && err == nil {
			err = again.refresh(s)
		}
		if err == nil {
			err = order[i].apply(ctx)
		}
		if err != nil {
			return nil, undoAll(ctx, order[:i+1], err)
		}
		c.reached("applied")
	}
	out := make([]Outcome, len(steps))
	for i, st := range steps {
		out[i] = st.finish()
	}
	return out, nil
}

func (c *Committer) reached(phase string) {
	if c.between != nil {
		c.between(phase)
	}
}

// discardAll goes backwards, so that a folder is empty when who made it comes; folders
// that are to go when they are empty come last of all.
func discardAll(steps []step) *remains {
	left := &remains{}
	for _, st := range slices.Backward(steps) {
		if _, last := st.(*emptyStep); !last {
			st.discard(left)
		}
	}
	for _, st := range steps {
		if _, last := st.(*emptyStep); last {
			st.discard(left)
		}
	}
	return left
}

// system is how the steps of a set call it.
func (c *Committer) system() handle.Calls {
	s := c.calls
	s.Unsynced = c.Journal.isUnsynced()
	return s
}

func (c *Committer) steps(s Set) []step {
	var out []step
	several := len(s.Files)+len(s.Tree)+len(s.Restores) > 1
	for _, f := range s.Files {
		out = append(out, c.step(f, s.Label, several))
	}
	for _, t := range s.Tree {
		out = append(out, c.treeStep(t))
	}
	for _, x := range s.Restores {
		out = append(out, &restoreStep{restore: x, committer: c, named: workspace.NewTemp()})
	}
	for _, p := range s.Empty {
		out = append(out, &emptyStep{path: p, committer: c})
	}
	return out
}

// buffersFirst puts what may fail for reasons of the user's before what is ready
// to be renamed.
func buffersFirst(steps []step) []step {
	var buffers, others []step
	for _, st := range steps {
		if _, ok := st.(*bufferStep); ok {
			buffers = append(buffers, st)
			continue
		}
		others = append(others, st)
	}
	return append(buffers, others...)
}

// undoAll takes changes back even when the call that made them was cancelled. It
// gives the error to report: why, and what could not be taken back.
func undoAll(ctx context.Context, done []step, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for _, st := range slices.Backward(done) {
		if err := st.undo(ctx); err != nil {
			// Not to be planned again by itself: a part of it is made.
			why = &halfMade{fault.New(fault.CodeOf(why), "%v; %v", why, err)}
		}
	}
	return why
}

// halfMade is the error of a set of which a part stays made.
type halfMade struct{ why *fault.Error }

func (h *halfMade) Error() string { return h.why.Error() }
func (h *halfMade) Unwrap() error { return h.why }

const undoTime = 5 * time.Second

func (c *Committer) step(f File, label string, several bool) step {
	switch {
	case f.Operation() == Unchanged:
		return unchanged{f}
	case f.Before.Source == document.FromBuffer && (f.Before.Dirty || c.takes(f.Before)):
		return &bufferStep{file: f, label: label, several: several, committer: c}
	}
	return &diskStep{file: f, committer: c, named: workspace.NewTemp()}
}

// takes: a file that may not be written to is replaced on disk, after a yes to that.
// The editor could not save it, and shows it anew.
func (c *Committer) takes(f *document.File) bool {
	return c.Editor != nil && c.Editor.Takes(f) && !f.ReadOnly && !f.Buffer.ReadOnly
}

type unchanged struct{ file File }

func (u unchanged) record() (*journal.Record, error) { return nil, nil }
func (u unchanged) stage() error                     { return nil }
func (u unchanged) apply(context.Context) error      { return nil }
func (u unchanged) undo(context.Context) error       { return nil }
func (u unchanged) discard(*remains)                 {}

func (u unchanged) finish() Outcome {
	return Outcome{File: u.file, Operation: Unchanged, Bytes: int(u.file.Before.Size), Version: u.file.Before.Version, Text: u.file.Before.Text, Saved: !u.file.Before.Dirty}
}

// Unchanged are the outcomes of a set that changes nothing.
func (s Set) Unchanged() []Outcome {
	out := make([]Outcome, 0, len(s.Files))
	for _, f := range s.Files {
		out = append(out, unchanged{f}.finish())
	}
	for _, t := range s.Tree {
		out = append(out, Outcome{Tree: &t, Operation: Unchanged, Saved: true})
	}
	return out
}

func moved(name string) error {
	return fault.New(fault.ConcurrentModification, "%s changed while the call ran; read it again: %w", name, ErrMoved)
}
