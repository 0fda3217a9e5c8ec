package change

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// HasModes: the system keeps of a file whether it can be run as a program.
const HasModes = runtime.GOOS != "windows"

// IsExecutable is what git has of a mode: whether the owner may run the file.
func IsExecutable(mode fs.FileMode) bool { return mode&0o100 != 0 }

// NewMode plans that the file p can be run as a program, or cannot any more. Who may
// read it may then run it, and nothing else of its mode changes.
func NewMode(snap *document.Snapshot, p workspace.Path, executable bool) (TreeChange, error) {
	return newMode(snap, p, func(was fs.FileMode) fs.FileMode {
		switch {
		case executable == IsExecutable(was):
			return was
		case executable:
			return was.Perm() | was.Perm()&0o444>>2 | 0o100 // without the rights that a program would run with
		}
		return was &^ 0o111
	})
}

func newMode(snap *document.Snapshot, p workspace.Path, to func(was fs.FileMode) fs.FileMode) (TreeChange, error) {
	c := TreeChange{Operation: ChangeMode, Path: p}
	if err := c.look(snap); err != nil {
		return c, err
	}
	c.Text = nil // it stays as it is
	was := c.Was.Top().Mode
	if !was.IsRegular() {
		return c, fault.New(fault.NotAFile, "%s is not a file and has no mode to change", c.name())
	}
	if c.Mode = to(was); c.Mode == was {
		c.Operation = Unchanged
		return c, nil
	}
	if info, err := c.Source.Lstat(); err == nil && workspace.HardLinks(info) > 1 {
		return c, fault.New(fault.PermissionDenied, "%s has other names (hard links), whose mode would change with it", c.name()).
			WithHint("ask the user to change it")
	}
	return c, nil
}

// modeWords name the change of a mode, as git counts modes.
func (c TreeChange) modeWords() string {
	from, to := c.modes()
	if from == to {
		return fmt.Sprintf("permissions %04o → %04o", c.Was.Top().Mode.Perm(), c.Mode.Perm())
	}
	return ModeWords(from, to)
}

// ModeWords name the change of one of git's modes to another: what matters of it first,
// as it may be cut off.
func ModeWords(from, to string) string {
	if to == gitMode(0o755) {
		return "made executable, mode " + from + " → " + to
	}
	return "not executable any more, mode " + from + " → " + to
}

func (c TreeChange) modes() (from, to string) { return gitMode(c.Was.Top().Mode), gitMode(c.Mode) }

// ModeLines are what git's diffs say of a mode that is changed.
func (c TreeChange) ModeLines() string {
	from, to := c.modes()
	if from == to {
		return ""
	}
	return "old mode " + from + "\nnew mode " + to + "\n"
}

// modeStep changes the mode of the file that was planned: what was opened is looked at
// again under its name afterwards, and gets its mode back if it is another.
type modeStep struct {
	treeStep
	file *os.File // open while its mode may have to go back
}

// record keeps no bytes: they stay. For its Hash see moveStep.record.
func (m *modeStep) record() (*journal.Record, error) {
	r, top := m.newRecord(), m.change.Was.Top()
	was := journal.State{Type: journal.TypeFile, Mode: top.Mode, Size: top.Size, Hash: cmp.Or(top.Version, "-")}
	now := was
	now.Mode = m.change.Mode
	r.Before, r.After, r.Buffer = &was, &now, nil
	return r, nil
}

// refresh: the file may be another after the set changed its text; its mode is not.
func (m *modeStep) refresh(s Set) error {
	if !slices.ContainsFunc(s.Files, func(f File) bool { return f.Target == m.change.Source && f.Operation() != Unchanged }) {
		return nil
	}
	now, err := m.committer.Documents.Snapshot(maxReadBack).Tree(m.change.Source)
	if err != nil || now.Top().Mode != m.change.Was.Top().Mode {
		return cmp.Or(err, moved(m.change.name()))
	}
	m.change.Was = now
	return nil
}

func (m *modeStep) apply(context.Context) error { return m.fault(m.set()) }

func (m *modeStep) set() (err error) {
	name, was := m.change.Source.Base(), m.change.Was
	if m.from, _, err = m.committer.system().OpenFolder(m.change.Source.Dir(), false); err != nil {
		return err
	}
	if err = handle.Still(was, m.from, name); err != nil {
		return err
	}
	info, file, err := m.from.OpenRegular(name)
	if err == nil && (file == nil || info.Mode() != was.Top().Mode) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	if err = m.from.Try("chmod", func() error { return file.Chmod(m.change.Mode) }); err != nil {
		file.Close()
		return err
	}
	m.file = file
	if err = m.check(name); err == nil {
		err = m.from.Calls.Sync(file)
	}
	if err != nil {
		err = cmp.Or(m.takeBack(), err)
	}
	return err
}

// check: the file that has the mode now is the one that was planned.
func (m *modeStep) check(name string) error {
	info, err := m.file.Stat()
	switch {
	case err != nil:
		return err
	case info.Mode() != m.change.Mode:
		return fault.New(fault.ExecutionFailed, "the file system of %s does not support executable files", m.change.name()).
			WithHint("leave the mode out of the patch")
	}
	now := m.change.Was
	now.Nodes = slices.Clone(now.Nodes)
	now.Nodes[0].Mode = m.change.Mode
	return handle.Still(now, m.from, name)
}

func (m *modeStep) undo(context.Context) error { return m.takeBack() }

func (m *modeStep) takeBack() error {
	file := m.file
	if file == nil {
		return nil
	}
	m.file = nil
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.Mode() == m.change.Mode {
		err = m.from.Try("chmod", func() error { return file.Chmod(m.change.Was.Top().Mode) })
	}
	if err != nil {
		return fault.New(fault.ExecutionFailed, "%s keeps its new mode: %w", m.change.name(), handle.Cause(err))
	}
	return nil
}

func (m *modeStep) discard(*remains) {
	if m.file != nil {
		m.file.Close()
	}
	if m.from.Root != nil {
		m.from.Close()
	}
}

// undoMode gives a file the mode back that it had, if it still has the one that it got.
func (r *reversal) undoMode(p workspace.Path, u undoing) error {
	was, now := u.record.Before, u.record.After
	if was == nil || now == nil {
		return conflict("the journal does not say which mode it had")
	}
	one, at := r.now(p)
	has := fs.FileMode(0)
	switch {
	case one != nil:
		has = one.state.Mode
	case at.IsZero():
		return conflict("it no longer exists")
	default:
		has = r.modeOf(at)
	}
	switch {
	case has == was.Mode: // it has it back already
	case has != now.Mode:
		return conflict("its mode has changed since")
	case one != nil:
		one.state.Mode = was.Mode
	default:
		r.modes[at] = was.Mode
	}
	return nil
}

// modeOf is the mode that an entry has after the steps planned so far.
func (r *reversal) modeOf(at workspace.Path) fs.FileMode {
	if mode, planned := r.modes[at]; planned {
		return mode
	}
	info, err := at.Lstat()
	if err != nil {
		return 0
	}
	return info.Mode()
}

// compileModes makes the set's changes of modes, under the names that files have now.
func (r *reversal) compileModes() error {
	for _, at := range slices.SortedFunc(maps.Keys(r.modes), func(a, b workspace.Path) int { return strings.Compare(a.Abs(), b.Abs()) }) {
		c, err := newMode(r.snap, at, func(fs.FileMode) fs.FileMode { return r.modes[at] })
		if err != nil {
			return err
		}
		if c.Operation != Unchanged {
			r.set.Tree = append(r.set.Tree, c)
		}
	}
	return nil
}

// recoverMode: a mode is one or the other. A file that a later step of the set moved is
// looked for where it went.
func (s scene) recoverMode() made {
	info, err := s.folder.Root.Lstat(s.name)
	for _, r := range s.entry.Records {
		if err == nil || r.Operation != string(Move) || r.Path != s.record.Path {
			continue
		}
		if p, gone := s.committer.Documents.Workspace().ResolveEntry(r.To); gone == nil {
			info, err = p.Lstat()
		}
	}
	switch {
	case err != nil || !info.Mode().IsRegular():
		return unclear
	case info.Mode() == s.record.After.Mode:
		return wasMade
	case info.Mode() == s.record.Before.Mode:
		return notMade
	}
	return unclear
}
