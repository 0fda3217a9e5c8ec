package change

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

func (c *Committer) treeStep(t TreeChange) step {
	base := treeStep{change: t, committer: c, named: workspace.NewTemp()}
	switch t.Operation {
	case CreateDirectory:
		return &makeStep{base}
	case Delete:
		return &deleteStep{base}
	case Move:
		return &moveStep{treeStep: base}
	case ChangeMode:
		return &modeStep{treeStep: base}
	}
	return &makeStep{base} // there is nothing to make
}

// treeStep is what the steps of a TreeChange have in common.
type treeStep struct {
	change    TreeChange
	committer *Committer
	made      []string // folders that apply made, outermost first

	from  handle.Folder // that Source is in
	named string        // in it: what goes, or is replaced, will be called so
	temp  string        // the same, as long as it is
}

func (s *treeStep) stage() error { return nil }

// newRecord is what all records of tree changes have.
func (s *treeStep) newRecord() *journal.Record {
	c := s.change
	r := &journal.Record{Operation: string(c.Operation), Name: c.Path.String(), Path: c.Source.Abs(), Buffer: unsavedState(c)}
	for _, p := range c.Missing {
		r.MadeFolders = append(r.MadeFolders, p.Abs())
	}
	return r
}

// stateOf is a tree as the journal keeps it, with the bytes of every file.
func stateOf(t workspace.Tree, at workspace.Path) *journal.State {
	st := nodeState(t.Top(), at)
	for _, n := range t.Nodes[1:] {
		st.Children = append(st.Children, journal.Child{Name: n.Rel, State: nodeState(n, at)})
	}
	return &st
}

func nodeState(n workspace.Node, at workspace.Path) journal.State {
	st := journal.State{Type: journal.TypeFile, Mode: n.Mode}
	switch {
	case n.Mode.IsDir():
		st.Type = journal.TypeDirectory
	case n.Mode&fs.ModeSymlink != 0:
		st.Type, st.Link = journal.TypeSymlink, n.Link
	default:
		st.Path = at.Join(n.Rel).Abs()
	}
	return st
}

// unsavedState is the text that the user has not saved, of one file or of several in
// a folder.
func unsavedState(c TreeChange) *journal.State {
	unsaved := c.Unsaved()
	all := &journal.State{Type: journal.TypeDirectory, Unsaved: true}
	for _, f := range unsaved {
		st := journal.State{Type: journal.TypeFile, Data: bytesOf(f.Content), Mode: f.Mode, Encoding: string(f.Encoding), Unsaved: true}
		if f.Path == c.Source {
			return &st
		}
		rel, err := filepath.Rel(c.Source.Abs(), f.Path.Abs())
		if err == nil {
			all.Children = append(all.Children, journal.Child{Name: filepath.ToSlash(rel), State: st})
		}
	}
	if len(unsaved) == 0 {
		return nil
	}
	return all
}

// enter opens the folder of an entry that is shown as planned.
func (s *treeStep) enter() (err error) {
	if !s.isShownAsPlanned() {
		return moved(s.change.name())
	}
	s.from, _, err = s.committer.system().OpenFolder(s.change.Source.Dir(), false)
	return err
}

// sweep removes what was set aside, which stood at a path, and leaves the folder.
func (s *treeStep) sweep(was workspace.Tree, at workspace.Path, left *remains) {
	if s.from.Root == nil {
		return
	}
	if s.temp != "" {
		s.committer.holdOn(s.from, s.temp, was.Top().Version, at)
		if err := s.from.RemoveTree(s.temp, was); err != nil {
			if s.change.Operation == Move && errors.Is(err, handle.ErrWritten) {
				left = &remains{} // the move is made all the same
			}
			s.committer.nameVisibly(s.from, s.change.Source.Dir(), s.temp, at, err, left)
		}
	}
	s.from.Close()
}

func (s *treeStep) finish() Outcome {
	s.made = nil
	return Outcome{Tree: &s.change, Operation: s.change.Operation, Saved: true}
}

// isShownAsPlanned: the files in it are open as they were then, with the same text.
func (s *treeStep) isShownAsPlanned() bool {
	type shown struct {
		uri     string
		version int32
	}
	var then, now []shown
	for _, f := range s.change.Open {
		then = append(then, shown{f.Buffer.URI, f.Buffer.Version})
	}
	snap := s.committer.Documents.Snapshot(0)
	open := snap.Below(s.change.Source)
	if s.change.Operation == Move {
		open = append(open, snap.Below(s.change.Target)...)
	}
	for _, f := range open {
		if f.Held {
			return false
		}
		now = append(now, shown{f.Buffer.URI, f.Buffer.Version})
	}
	return slices.Equal(then, now)
}

func (s *treeStep) fault(err error) error {
	var known *fault.Error
	name := s.change.name()
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR):
		return moved(name)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "permission denied: the folder of %s cannot be written", name)
	case errors.Is(err, syscall.EXDEV):
		return fault.New(fault.ExecutionFailed, "%s and %s are on different file systems; nothing was moved", name, fault.Quote(s.change.To.String())).
			WithHint("write the files to the new path, then delete the old ones; or run mv, or rm -r")
	}
	return fault.New(fault.ExecutionFailed, "%s could not be done to %s: %w; it is as it was", s.change.Operation, name, handle.Cause(err))
}

// makeStep makes a folder, and those above it.
type makeStep struct{ treeStep }

func (m *makeStep) record() (*journal.Record, error) {
	if m.change.Operation == Unchanged {
		return nil, nil
	}
	r := m.newRecord()
	r.After = &journal.State{Type: journal.TypeDirectory, Mode: fs.ModeDir | 0o777}
	return r, nil
}

func (m *makeStep) apply(context.Context) error {
	if m.change.Operation == Unchanged {
		return nil
	}
	f, made, err := m.committer.system().OpenFolder(m.change.Source, true)
	m.made = made
	if err == nil {
		f.Close()
	}
	return m.fault(err)
}

func (m *makeStep) undo(context.Context) error {
	var left remains
	m.committer.unmakeFolders(m.change.Source, m.made, &left)
	m.made = nil
	return left.undeleted()
}

func (m *makeStep) discard(*remains) {}

// deleteStep gives the entry a name that nobody knows, looks whether it is what was
// to be deleted, and removes it once the whole set is made.
type deleteStep struct{ treeStep }

func (d *deleteStep) record() (*journal.Record, error) {
	r := d.newRecord()
	r.Before, r.Temp = stateOf(d.change.Was, d.change.Source), d.change.Source.Dir().Join(d.named).Abs()
	if d.change.Text != nil {
		r.Before.Encoding = string(d.change.Text.Encoding)
	}
	return r, nil
}

func (d *deleteStep) apply(context.Context) (err error) {
	if err = d.enter(); err != nil {
		return d.fault(err)
	}
	if err = d.from.CheckRemovable(d.change.Source, d.change.Was); err != nil {
		return err
	}
	if err = d.from.SetAside(d.change.Source.Base(), d.named, d.change.Was); err == nil {
		d.temp = d.named
	}
	return d.fault(err)
}

func (d *deleteStep) undo(context.Context) error {
	if d.temp == "" {
		return nil
	}
	temp := d.temp
	d.temp = "" // it is not to be removed, whatever comes
	return d.from.PutBack(temp, d.change.Source)
}

func (d *deleteStep) discard(left *remains) { d.sweep(d.change.Was, d.change.Source, left) }

// moveStep renames the entry. What it replaces is exchanged with it, so that the new
// name always has something, and set aside.
type moveStep struct {
	treeStep
	to   handle.Folder
	done bool
}

// record keeps no bytes of what is moved: they are where it goes. Its Hash is the first
// half of the whole one, "-" where that was not looked at.
func (m *moveStep) record() (*journal.Record, error) {
	r := m.newRecord()
	r.To, r.ToName = m.change.Target.Abs(), m.change.To.String()
	top := m.change.Was.Top()
	st := nodeState(top, m.change.Source)
	if st.Path != "" {
		st.Path, st.Size, st.Hash = "", top.Size, cmp.Or(top.Version, "-")
	}
	r.Before, r.After = &st, &st
	if m.change.Over.Exists() {
		r.Over, r.Temp = stateOf(m.change.Over, m.change.Target), m.change.Source.Dir().Join(m.named).Abs()
	}
	return r, nil
}

func (m *moveStep) apply(context.Context) (err error) {
	if err = m.enter(); err != nil {
		return m.fault(err)
	}
	m.to, m.made, err = m.committer.system().OpenFolder(m.change.Target.Dir(), true)
	if err == nil {
		err = m.rename(m.change.Source.Base(), m.change.Target.Base())
	}
	if err != nil {
		return m.fault(err)
	}
	if err := cmp.Or(m.from.Sync(), m.to.Sync()); err != nil {
		return m.fault(m.takeBack(err))
	}
	return nil
}

func (m *moveStep) rename(a, b string) error {
	if err := handle.Still(m.change.Was, m.from, a); err != nil {
		return err
	}
	if m.change.Over.Exists() {
		return m.replace(a, b)
	}
	if err := m.from.RenameTo(a, m.to, b); err != nil {
		return err
	}
	m.done = true
	if err := handle.Still(m.change.Was, m.to, b); err != nil {
		return m.takeBack(err)
	}
	return nil
}

func (m *moveStep) replace(a, b string) error {
	if err := handle.Still(m.change.Over, m.to, b); err != nil {
		return err
	}
	if err := m.from.ExchangeWith(a, m.to, b); err != nil {
		return err
	}
	m.done = true
	if err := m.from.SetAside(a, m.named, m.change.Over); err != nil { // a holds what was replaced, or something newer
		if back := m.from.ExchangeWith(a, m.to, b); back != nil {
			return fault.New(fault.ExecutionFailed, "%s could not be restored; the file that it replaced is in %s", fault.Quote(m.change.To.String()), m.change.name())
		}
		m.done = false
		return err
	}
	m.temp = m.named
	if err := handle.Still(m.change.Was, m.to, b); err != nil {
		return m.takeBack(err)
	}
	return nil
}

func (m *moveStep) takeBack(why error) error {
	if err := m.undo(context.Background()); err != nil {
		return err
	}
	return why
}

func (m *moveStep) undo(context.Context) error {
	if !m.done {
		return nil
	}
	m.done = false
	a, b := m.change.Source.Base(), m.change.Target.Base()
	if m.temp != "" {
		temp := m.temp
		m.temp = ""
		if err := m.from.ExchangeWith(temp, m.to, b); err != nil {
			return fault.New(fault.ExecutionFailed, "%s stays at its new path, and the file that it replaced is in %s", m.change.name(), fault.Quote(m.change.Source.Dir().Join(temp).String()))
		}
		return m.from.PutBack(temp, m.change.Source)
	}
	if err := m.to.RenameTo(b, m.from, a); err != nil {
		return fault.New(fault.ExecutionFailed, "%s stays at %s: it could not be moved back", m.change.name(), fault.Quote(m.change.To.String()))
	}
	cmp.Or(m.from.Sync(), m.to.Sync()) //nolint:errcheck // there is nothing else to go back to
	return nil
}

func (m *moveStep) discard(left *remains) {
	if !m.done {
		m.committer.unmakeFolders(m.change.Target, m.made, left)
	}
	m.sweep(m.change.Over, m.change.Target, left)
	if m.to.Root != nil {
		m.to.Close()
	}
}
