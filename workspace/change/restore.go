package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// Restore is an entry that comes out of the journal, where there is none: a file, a symbolic link, or a folder with all that is in it. What stood there
// may go in the same set.
type Restore struct {
	Path  workspace.Path
	State journal.State
}

// Restored is the operation of a Restore in the journal.
const Restored Operation = "restore"

func (x Restore) isLink() bool { return x.State.Type == journal.TypeSymlink }

func (x Restore) preview() FilePreview {
	p := FilePreview{Path: x.Path.String(), URI: x.Path.URI(), Operation: Create, Hunks: []HunkPreview{}}
	switch {
	case x.isLink():
		p.Whole = "link to " + fault.Quote(x.State.Link)
		p.Hunks = append(p.Hunks, WholeHunk(p.Whole))
	case x.State.Type == journal.TypeDirectory:
		n := 0
		var names strings.Builder
		for i, c := range x.State.Children {
			if c.Type != journal.TypeDirectory {
				n++
			}
			if i < maxNames {
				names.WriteString(GitName(path.Join(p.Path, c.Name)) + "\n")
			}
		}
		if more := len(x.State.Children) - maxNames; more > 0 {
			fmt.Fprintf(&names, "… and %d more\n", more)
		}
		p.Entries, p.Diff = &n, names.String()
	case x.State.Data != nil:
		if c, err := document.Decode(bytes.Clone(x.State.Data), document.Encoding(x.State.Encoding)); err == nil {
			file := File{Before: &document.File{Path: x.Path}, After: c}
			return file.preview()
		}
		p.Whole = BytesWords(int64(len(x.State.Data)))
	}
	return p
}

// restoreStep makes the entry beside its place, and gives it its name when it is whole.
type restoreStep struct {
	restore   Restore
	committer *Committer
	folder    handle.Folder
	made      []string
	named     string
	temp      string         // what stage made, "" when it is in place
	placed    workspace.Tree // what apply put in place
}

func (r *restoreStep) record() (*journal.Record, error) {
	dir := r.restore.Path.Dir()
	return &journal.Record{
		Operation: string(Restored), Name: r.restore.Path.String(), Path: r.restore.Path.Abs(),
		After: &r.restore.State, Temp: dir.Join(r.named).Abs(), MadeFolders: toMake(dir),
	}, nil
}

func (r *restoreStep) stage() (err error) {
	if r.folder, r.made, err = r.committer.system().OpenFolder(r.restore.Path.Dir(), true); err != nil {
		return r.fault(err)
	}
	r.temp = r.named
	each := len(r.restore.State.Children) < manyFiles
	if err = put(r.folder, r.temp, r.restore.State, each); err != nil {
		return r.fault(err)
	}
	for _, c := range r.restore.State.Children {
		if err = put(r.folder, path.Join(r.temp, c.Name), c.State, each); err != nil {
			return r.fault(err)
		}
	}
	if !each {
		handle.SyncAll(r.folder.Handle) // the journal has it all, should that fail
	}
	for _, c := range slices.Backward(r.restore.State.Children) { // not before all in it is made
		if c.Type == journal.TypeDirectory {
			r.folder.Root.Chmod(path.Join(r.temp, c.Name), c.Mode.Perm()) //nolint:errcheck // it is the user's folder all the same
		}
	}
	return nil
}

// manyFiles are synced together: one after the other they would take minutes.
const manyFiles = 200

// put makes one entry as it was.
func put(f handle.Folder, name string, st journal.State, sync bool) error {
	name = filepath.FromSlash(name)
	switch st.Type {
	case journal.TypeDirectory:
		return f.Root.Mkdir(name, st.Mode.Perm()|0o700)
	case journal.TypeSymlink:
		return f.Root.Symlink(st.Link, name)
	}
	from, err := contentOf(st)
	if err != nil {
		return err
	}
	defer from.Close()
	mode := st.Mode.Perm()
	if mode == 0 {
		mode = 0o644
	}
	return f.Fill(name, from, mode, sync)
}

func contentOf(st journal.State) (io.ReadCloser, error) {
	if st.Open != nil {
		return st.Open()
	}
	return io.NopCloser(bytes.NewReader(st.Data)), nil
}

func (r *restoreStep) apply(context.Context) error {
	name := r.restore.Path.Base()
	if err := r.folder.Rename(r.temp, name); err != nil {
		return r.fault(err)
	}
	r.temp = ""
	r.placed, _ = workspace.TreeAt(r.folder.Root, name) //nolint:errcheck // then it is not taken back
	return r.fault(r.folder.Sync())
}

func (r *restoreStep) undo(context.Context) error {
	if !r.placed.Exists() {
		return nil
	}
	placed := r.placed
	r.placed = workspace.Tree{}
	unsynced := func() error { return nil } // what comes back in its place is
	if err := r.folder.SetAsideThen(r.restore.Path.Base(), r.named, placed, unsynced); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("somebody changed it after it was restored")
		}
		return fault.New(fault.ExecutionFailed, "%s stays: %w", fault.Quote(r.restore.Path.String()), handle.Cause(err))
	}
	r.temp = r.named
	return nil
}

func (r *restoreStep) finish() Outcome {
	r.made = nil
	return Outcome{Operation: Create, Saved: true}
}

func (r *restoreStep) discard(left *remains) {
	if r.folder.Root != nil {
		left.temp(r.restore.Path.Dir().Join(r.temp), r.folder.Remove(r.temp))
		r.folder.Close()
	}
	r.committer.unmakeFolders(r.restore.Path, r.made, left)
}

func (r *restoreStep) fault(err error) error {
	var known *fault.Error
	name := fault.Quote(r.restore.Path.String())
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return moved(name)
	}
	return fault.New(fault.ExecutionFailed, "%s could not be restored: %w", name, handle.Cause(err))
}

// emptyStep removes a folder in which nothing is left, after all else is made and
// temporary files are gone. One that somebody has put something into stays.
type emptyStep struct {
	path      workspace.Path
	committer *Committer
	goes      bool
}

func (e *emptyStep) record() (*journal.Record, error) {
	info, err := e.path.Lstat()
	if err != nil {
		return nil, err
	}
	return &journal.Record{
		Operation: string(Delete), Name: e.path.String(), Path: e.path.Abs(),
		Before: &journal.State{Type: journal.TypeDirectory, Mode: info.Mode()},
	}, nil
}

func (e *emptyStep) stage() error { return nil }

func (e *emptyStep) apply(context.Context) error {
	e.goes = true
	return nil
}

func (e *emptyStep) undo(context.Context) error {
	e.goes = false
	return nil
}

func (e *emptyStep) finish() Outcome { return Outcome{Operation: Delete, Saved: true} }

func (e *emptyStep) discard(left *remains) {
	if info, err := e.path.Lstat(); e.goes && err == nil && info.IsDir() {
		left.folder(e.path, e.committer.calls.RemoveAt(e.path.Root(), filepath.FromSlash(e.path.Rel())))
	}
}

// refresher is a step that may look again at what it changes, after the files of its
// own set were changed.
type refresher interface{ refresh(s Set) error }

func (m *moveStep) refresh(s Set) error {
	if !slices.ContainsFunc(s.Files, func(f File) bool { return f.Target.IsIn(m.change.Source) }) &&
		!slices.ContainsFunc(s.Tree, func(c TreeChange) bool { return c.Operation == ChangeMode && c.Source.IsIn(m.change.Source) }) {
		return nil
	}
	next, err := NewMove(m.committer.Documents.Snapshot(maxReadBack), m.change.Path, m.change.To, m.change.Overwrite)
	if err == nil {
		m.change.Was, m.change.Open = next.Was, next.Open
	}
	return err
}
