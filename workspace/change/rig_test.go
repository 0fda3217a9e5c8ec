package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

const limit = 1 << 20

// bench is a workspace folder, buffers over it, an editor and a committer.
type bench struct {
	*Committer
	machine.Folder
	editor *editor
}

func newBench(t testing.TB) *bench { return newBenchIn(t, t.TempDir()) }

func newBenchIn(t testing.TB, dir string) *bench {
	b := newBenchAt(t, dir, filepath.Join(t.TempDir(), "journal"))
	b.editor = &editor{store: b.Documents, plugin: true}
	b.Editor = b.editor
	t.Cleanup(b.checkNothingIsLeft)
	return b
}

// newBenchAt is a bench without an editor, with the journal that is kept in a folder.
func newBenchAt(t testing.TB, dir, kept string) *bench {
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	machine.Must(t, err)
	store, err := journal.Open(kept, journal.Options{})
	machine.Must(t, err)
	t.Cleanup(func() { store.Close(); w.Close() })
	return &bench{&Committer{Documents: document.NewStore(w), Journal: &Journal{Store: store}}, machine.Folder{TB: t, Dir: dir}, nil}
}

// checkNothingIsLeft looks for temporary files in every folder.
func (b *bench) checkNothingIsLeft() {
	filepath.WalkDir(b.Dir, func(name string, _ os.DirEntry, _ error) error { //nolint:errcheck // folders that cannot be read hold none of ours
		if strings.HasPrefix(filepath.Base(name), ".pillion-") {
			b.Errorf("left behind: %s", name)
		}
		return nil
	})
}

func (b *bench) path(name string) workspace.Path {
	b.Helper()
	p, err := b.Documents.Workspace().Resolve(name)
	machine.Must(b.TB, err)
	return p
}

// onDisk is the file's text, "<absent>" without one.
func (b *bench) onDisk(name string) string {
	b.Helper()
	data, err := os.ReadFile(b.Abs(name))
	if os.IsNotExist(err) {
		return "<absent>"
	}
	b.Must(err)
	return string(data)
}

func (b *bench) want(name, text string) {
	b.Helper()
	if got := b.onDisk(name); got != text {
		b.Errorf("%s is %q, want %q", name, got, text)
	}
}

// plan is the change of a file to a text.
func (b *bench) plan(name, text string) File {
	b.Helper()
	f, err := b.tryPlan(name, text)
	b.Must(err)
	return f
}

func (b *bench) tryPlan(name, text string) (File, error) {
	before, err := b.Documents.Snapshot(limit).ReadIfExists(b.path(name), "")
	if err != nil {
		return File{}, err
	}
	after := document.Content{Text: text, Encoding: document.UTF8}
	if before.Exists {
		after.Encoding, after.BOM = before.Encoding, before.BOM
	}
	f, err := New(before, after)
	f.CreateDirs = true
	return f, err
}

// planBytes is the change of a file to bytes.
func (b *bench) planBytes(name, data string) File {
	b.Helper()
	before, err := b.Documents.Snapshot(limit).ReadIfExists(b.path(name), document.Binary)
	b.Must(err)
	f, err := New(before, document.Content{Text: data, Encoding: document.Binary})
	b.Must(err)
	return f
}

func (b *bench) commit(files ...File) ([]Outcome, error) {
	return b.Commit(context.Background(), Set{Files: files, Label: "a test"}, journal.Origin{CallID: "a call"})
}

func (b *bench) mustCommit(files ...File) []Outcome {
	b.Helper()
	out, err := b.commit(files...)
	b.Must(err)
	return out
}

func (b *bench) commitSet(s Set) error {
	_, err := b.Commit(context.Background(), s, journal.Origin{})
	return err
}

// wantFault commits and wants it refused.
func (b *bench) wantFault(code fault.Code, files ...File) error {
	b.Helper()
	_, err := b.commit(files...)
	if fault.CodeOf(err) != code {
		b.Errorf("committed with %v, want %s", err, code)
	}
	return err
}

// wantMoved commits, and wants it said that what it was planned on has moved on.
func (b *bench) wantMoved(files ...File) {
	b.Helper()
	if _, err := b.commit(files...); !errors.Is(err, ErrMoved) {
		b.Errorf("committed with %v", err)
	}
}

func (b *bench) commitAs(call string, s Set) {
	b.Helper()
	_, err := b.Commit(context.Background(), s, journal.Origin{CallID: call, SessionID: "s"})
	b.Must(err)
}

// revert puts back what is selected, in a call of this name.
func (b *bench) revert(sel Selection, call string) Reverted {
	b.Helper()
	r, err := b.Revert(context.Background(), sel, journal.Origin{CallID: call}, false)
	b.Must(err)
	return r
}

func (b *bench) revertCall(call string) Reverted {
	b.Helper()
	return b.revert(Selection{CallID: call}, "revert of "+call)
}

// wantReverted reverts all that is selected.
func (b *bench) wantReverted(sel Selection, call string) {
	b.Helper()
	if r := b.revert(sel, call); len(r.Conflicts) > 0 {
		b.Errorf("%s: conflicts: %q", call, r.Reasons)
	}
}

func (b *bench) wantCallReverted(call string) {
	b.Helper()
	b.wantReverted(Selection{CallID: call}, "revert of "+call)
}

// entries are the change sets of the journal, the last one first.
func (b *bench) entries() []journal.Entry {
	b.Helper()
	entries, err := b.Journal.Store.Entries(journal.Query{})
	b.Must(err)
	return entries
}

// content is what the journal has of a file.
func (b *bench) content(e journal.Entry, st *journal.State) string {
	b.Helper()
	content, err := b.Journal.Store.Content(e)
	b.Must(err)
	defer content.Close()
	data, err := content.Read(st)
	b.Must(err)
	return string(data)
}

// show opens the file in the editor, with the text that it has on disk.
func (b *bench) show(name string) *openDocument {
	b.Helper()
	text := b.onDisk(name)
	if text == "<absent>" {
		text = ""
	}
	return b.editor.open(b.path(name), text)
}

// editor is a fake that holds documents and tells the store of them, in order, as
// an editor's notifications do.
type editor struct {
	store  *document.Store
	plugin bool // it has document/edit and tells what is dirty

	mu        sync.Mutex // guards documents
	documents map[string]*openDocument

	// What the fake does otherwise than an honest editor would.
	onEdit func(d *openDocument, e BufferEdit) (BufferResult, error)
}

// openDocument is one document of the editor. Its methods are called with the
// editor's word on what happened: they tell the store at once.
type openDocument struct {
	editor  *editor
	path    workspace.Path
	version int32
	text    string
	dirty   bool
	// format is what the editor's formatter makes of the text when it saves.
	format func(string) string
}

func (e *editor) open(p workspace.Path, text string) *openDocument {
	d := &openDocument{editor: e, path: p, version: 1, text: text}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.documents == nil {
		e.documents = map[string]*openDocument{}
	}
	e.documents[p.URI()] = d
	e.store.Open(p, p.URI(), 1, text)
	d.tellState()
	return d
}

func (d *openDocument) tellState() {
	if d.editor.plugin {
		d.editor.store.SetState(d.path, document.State{Version: d.version, Dirty: d.dirty, Encoding: "utf8"})
	}
}

// set gives the document a text, as a user who types does.
func (d *openDocument) set(text string) {
	d.version++
	d.text, d.dirty = text, true
	d.editor.store.Change(d.path, d.version, text)
	d.tellState()
}

func (d *openDocument) save() {
	if d.format != nil {
		if formatted := d.format(d.text); formatted != d.text {
			d.set(formatted)
		}
	}
	if err := os.WriteFile(d.path.Abs(), []byte(d.text), 0o644); err != nil {
		panic(err)
	}
	d.dirty = false
	d.editor.store.Saved(d.path)
	d.tellState()
}

func (d *openDocument) close() {
	d.editor.mu.Lock()
	defer d.editor.mu.Unlock()
	delete(d.editor.documents, d.path.URI())
	d.editor.store.Close(d.path)
}

func (e *editor) Takes(f *document.File) bool { return e.plugin || f.Dirty }

func (e *editor) Edit(_ context.Context, edit BufferEdit) (BufferResult, error) {
	e.mu.Lock()
	d := e.documents[edit.URI]
	e.mu.Unlock()
	if e.onEdit != nil {
		return e.onEdit(d, edit)
	}
	return d.edit(edit), nil
}

// edit is what an honest editor does.
func (d *openDocument) edit(e BufferEdit) BufferResult {
	if d == nil {
		return BufferResult{Reason: "the document is not open"}
	}
	if d.version != e.Version {
		return BufferResult{Version: d.version, Dirty: d.dirty, Reason: fmt.Sprintf("it is at version %d", d.version)}
	}
	d.set(applied(d.text, e.Edits))
	if e.Save {
		d.save()
	}
	return BufferResult{Applied: true, Version: d.version, Dirty: d.dirty}
}

func applied(text string, edits []document.TextEdit) string {
	for i := len(edits) - 1; i >= 0; i-- {
		text = document.Apply(text, edits[i].Range, edits[i].NewText)
	}
	return text
}
