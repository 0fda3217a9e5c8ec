package change

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

func TestCleanBufferIsChangedAndSaved(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	doc := b.show("a.txt")
	o := b.mustCommit(b.plan("a.txt", "one\n2\n"))[0]
	b.want("a.txt", "one\n2\n")
	if doc.dirty || doc.version != 2 || !o.Saved || o.Formatted || o.Version != document.Version([]byte("one\n2\n")) || o.Bytes != 6 {
		t.Errorf("%+v", o)
	}
}

func TestDirtyBufferKeepsTheHumansText(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	doc := b.show("a.txt")
	doc.set("mine\ntwo\n")
	o := b.mustCommit(b.plan("a.txt", "mine\n2\n"))[0]
	b.want("a.txt", "one\ntwo\n")
	if doc.text != "mine\n2\n" || !doc.dirty || o.Saved || o.Formatted || o.Version != document.Version([]byte("mine\n2\n")) {
		t.Errorf("%+v with the buffer %q", o, doc.text)
	}
}

func TestDirtyBufferOverADiskThatMovedOn(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	doc.set("mine\n")
	f := b.plan("a.txt", "mine\nagent\n")
	b.write("a.txt", "from outside\n")
	b.mustCommit(f)
	b.want("a.txt", "from outside\n")
	if doc.text != "mine\nagent\n" || !doc.dirty {
		t.Errorf("the buffer holds %q", doc.text)
	}
}

func TestNewFileThatIsOnlyInTheEditor(t *testing.T) {
	b := newBench(t)
	doc := b.editor.open(b.path("new.txt"), "")
	doc.set("draft\n")
	o := b.mustCommit(b.plan("new.txt", "draft\nagent\n"))[0]
	b.want("new.txt", "<absent>")
	if doc.text != "draft\nagent\n" || o.Saved {
		t.Errorf("%+v with %q", o, doc.text)
	}
}

func TestFormatOnSave(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	doc.format = strings.ToUpper
	o := b.mustCommit(b.plan("a.txt", "one\ntwo\n"))[0]
	b.want("a.txt", "ONE\nTWO\n")
	if !o.Formatted || !o.Saved || o.Version != document.Version([]byte("ONE\nTWO\n")) || len(o.Hunks) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestHumanTypesWhileItIsChanged: the text is reported as it is, the formatter is
// not blamed, and nothing is undone.
func TestHumanTypesWhileItIsChanged(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		r := d.edit(e)
		d.set(d.text + "typed")
		return r, nil
	}
	o := b.mustCommit(b.plan("a.txt", "two\n"))[0]
	b.want("a.txt", "two\n")
	if o.Formatted || o.Saved || doc.text != "two\ntyped" || o.Version != document.Version([]byte("two\ntyped")) {
		t.Errorf("%+v with %q", o, doc.text)
	}
}

func TestEditorThatDidNotSave(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.show("a.txt")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		e.Save = false
		return d.edit(e), nil // applied, dirty: saving failed
	}
	if o := b.mustCommit(b.plan("a.txt", "two\n"))[0]; o.Saved || o.Formatted {
		t.Errorf("%+v", o)
	}
	b.want("a.txt", "one\n")
}

func TestEditorThatSaysItSavedAndDidNot(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.show("a.txt")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		e.Save = false
		r := d.edit(e)
		r.Dirty = false
		return r, nil
	}
	if o := b.mustCommit(b.plan("a.txt", "two\n"))[0]; o.Saved {
		t.Errorf("%+v", o)
	}
}

// TestLateNotifications: the answer overtakes the change that it speaks of.
func TestLateNotifications(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.show("a.txt")
	answered, told := make(chan struct{}), make(chan struct{})
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		go func() {
			defer close(told)
			<-answered
			d.edit(e)
		}()
		defer close(answered)
		return BufferResult{Applied: true, Version: e.Version + 1}, nil
	}
	o := b.mustCommit(b.plan("a.txt", "two\n"))[0]
	<-told
	if len(o.Hunks) != 1 || o.Version != document.Version([]byte("two\n")) {
		t.Errorf("%+v", o)
	}
}

func TestEditorThatNeverShowsTheChange(t *testing.T) {
	dir := t.TempDir() // outside the bubble: it is removed by a timer of the real clock
	synctest.Test(t, func(t *testing.T) {
		b := newBenchIn(t, dir)
		b.write("a.txt", "one\n")
		b.show("a.txt")
		b.editor.onEdit = func(_ *openDocument, e BufferEdit) (BufferResult, error) {
			return BufferResult{Applied: true, Version: e.Version + 1}, nil
		}
		started := time.Now()
		err := b.wantFault(fault.ExecutionFailed, b.plan("a.txt", "two\n"))
		if took := time.Since(started); took != readBackTime || !strings.Contains(err.Error(), "read the file") {
			t.Errorf("after %v: %v", took, err)
		}
		b.want("a.txt", "one\n")
	})
}

// stock is an editor without a plugin: workspace/applyEdit, of which nobody saves
// and whose answer says little.
func stock(t *testing.T, name, text, typed string) (*bench, *openDocument) {
	b := newBench(t)
	b.editor.plugin = false
	b.write(name, text)
	d := b.show(name)
	d.set(typed)
	return b, d
}

func stockAnswer(e BufferEdit) BufferResult {
	return BufferResult{Applied: true, Version: e.Version + 1, Dirty: true}
}

func TestStockEditorTellsOfOneEditInSeveralChanges(t *testing.T) {
	b, _ := stock(t, "a.txt", "a\nb\nc\n", "a\nb\nc\nmine\n")
	told := make(chan struct{})
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		go func() {
			defer close(told)
			for i := len(e.Edits) - 1; i >= 0; i-- {
				d.set(applied(d.text, e.Edits[i:i+1]))
			}
		}()
		return stockAnswer(e), nil
	}
	o := b.mustCommit(b.plan("a.txt", "A\nb\nC\nmine\n"))[0]
	<-told
	if o.Version != document.Version([]byte("A\nb\nC\nmine\n")) || o.Saved || o.Formatted {
		t.Errorf("half of it was taken for all: %+v", o)
	}
}

// TestStockEditorThatSkipsTheEdit answers "applied" and has only what the user
// typed: Neovim does when its buffer is newer.
func TestStockEditorThatSkipsTheEdit(t *testing.T) {
	b, d := stock(t, "a.txt", "a\nb\n", "a\nb\nmine\n")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		d.set("a\nb\nmine, and more\n")
		return stockAnswer(e), nil
	}
	err := b.wantFault(fault.ConcurrentModification, b.plan("a.txt", "agent\nb\nmine\n"))
	if errors.Is(err, ErrMoved) {
		t.Error("it would be made a second time by itself")
	}
	if d.text != "a\nb\nmine, and more\n" {
		t.Errorf("the buffer holds %q", d.text)
	}
}

func TestStockEditorAndTheHumanAtOnce(t *testing.T) {
	b, _ := stock(t, "a.txt", "a\nb\n", "a\nb\nmine\n")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		d.edit(e)
		d.set(d.text + "typed\n")
		return stockAnswer(e), nil
	}
	o := b.mustCommit(b.plan("a.txt", "agent\nb\nmine\n"))[0]
	if o.Formatted || o.Saved || o.Version != document.Version([]byte("agent\nb\nmine\ntyped\n")) {
		t.Errorf("%+v", o)
	}
}

// TestStockEditorsCleanFile is written on disk, with the line ends that it has
// there and not those that the editor shows.
func TestStockEditorsCleanFile(t *testing.T) {
	b := newBench(t)
	b.editor.plugin = false
	b.write("a.txt", "a\r\nb\nc\r\n")
	b.editor.open(b.path("a.txt"), "a\nb\nc\n")
	o := b.mustCommit(b.plan("a.txt", "a\nb\nX\nc\n"))[0]
	b.want("a.txt", "a\r\nb\nX\nc\r\n")
	if !o.Saved || o.Version != document.Version([]byte("a\r\nb\nX\nc\r\n")) {
		t.Errorf("%+v", o)
	}
}

func TestStockEditorWithAnUnknownEncoding(t *testing.T) {
	b := newBench(t)
	b.editor.plugin = false
	b.write("a.txt", "caf\xe9")
	p := b.path("a.txt")
	b.Documents.Open(p, p.URI(), 1, "café")
	b.Documents.SetState(p, document.State{Version: 1})
	b.wantFault(fault.EncodingError, b.plan("a.txt", "thé"))
	b.want("a.txt", "caf\xe9")
}

func TestEditorClosesTheBuffer(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(d *openDocument, e BufferEdit) BufferResult
		code fault.Code
		disk string
	}{
		{"before the edit", func(d *openDocument, e BufferEdit) BufferResult { d.close(); return (*openDocument)(nil).edit(e) }, fault.ConcurrentModification, "one\n"},
		{"after it was saved", func(d *openDocument, e BufferEdit) BufferResult { defer d.close(); return d.edit(e) }, "", "two\n"},
		{"without saving", func(d *openDocument, e BufferEdit) BufferResult { e.Save = false; defer d.close(); return d.edit(e) }, fault.ExecutionFailed, "one\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			b.show("a.txt")
			b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) { return c.does(d, e), nil }
			out, err := b.commit(b.plan("a.txt", "two\n"))
			if fault.CodeOf(err) != c.code {
				t.Errorf("%v, want %q", err, c.code)
			}
			if err == nil && (!out[0].Saved || out[0].Formatted) {
				t.Errorf("%+v", out[0])
			}
			b.want("a.txt", c.disk)
		})
	}
}

// TestEmptyBufferThatMoved: no text is a text too, and not the absence of one.
func TestEmptyBufferThatMoved(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "")
	b.show("a.txt")
	f := b.plan("a.txt", "agent\n")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		d.set("human\n")
		return d.edit(e), nil
	}
	if _, err := b.commit(f); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
}

func TestEditorRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		result BufferResult
		err    error
		moved  bool
	}{
		{"for its own reason", BufferResult{Version: 1, Reason: "read-only"}, nil, false},
		{"at another version", BufferResult{Version: 5, Reason: "it is at version 5"}, nil, true},
		{"without a reason", BufferResult{}, nil, true},
		{"by an error", BufferResult{}, errors.New("broken"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			b.show("a.txt")
			b.editor.onEdit = func(*openDocument, BufferEdit) (BufferResult, error) { return c.result, c.err }
			_, err := b.commit(b.plan("a.txt", "two\n"))
			if err == nil || errors.Is(err, ErrMoved) != c.moved {
				t.Errorf("%v", err)
			}
			b.want("a.txt", "one\n")
		})
	}
}

// TestEditorThatAnswersTooLate made the change all the same.
func TestEditorThatAnswersTooLate(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.show("a.txt")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		d.edit(e)
		return BufferResult{}, context.DeadlineExceeded
	}
	if o := b.mustCommit(b.plan("a.txt", "two\n"))[0]; len(o.Hunks) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestCancelledWhileTheEditorWorks: what is on its way is made whole and known.
func TestCancelledWhileTheEditorWorks(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	f := b.plan("a.txt", "two\n")
	ctx, cancel := context.WithCancel(context.Background())
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		cancel()
		return d.edit(e), nil
	}
	if out, err := b.Commit(ctx, Only(f, ""), journal.Origin{}); err != nil || !out[0].Saved || doc.text != "two\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestDiskChangesBeneathACleanBuffer(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	f := b.plan("a.txt", "agent\n")
	b.write("a.txt", "from outside\n")
	if _, err := b.commit(f); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	b.want("a.txt", "from outside\n")
	if doc.text != "one\n" {
		t.Errorf("the buffer holds %q", doc.text)
	}
}

// TestEditorThatNeverReloads: the buffer is clean, so the disk is the text, and a
// change of it is made there.
func TestEditorThatNeverReloads(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	b.write("a.txt", "from outside\n")
	b.mustCommit(b.plan("a.txt", "from outside\nagent\n"))
	b.want("a.txt", "from outside\nagent\n")
	b.must(os.Remove(b.abs("a.txt")))
	if o := b.mustCommit(b.plan("a.txt", "anew\n"))[0]; o.Operation != Create {
		t.Errorf("%+v", o)
	}
	b.want("a.txt", "anew\n")
	if doc.text != "one\n" {
		t.Errorf("the buffer holds %q", doc.text)
	}
	f := b.plan("a.txt", "again\n")
	doc.set("typed at last\n")
	if _, err := b.commit(f); !errors.Is(err, ErrMoved) {
		t.Errorf("written beneath what the user typed: %v", err)
	}
}

func TestBufferRefusals(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	doc := b.show("a.txt")
	f := b.plan("a.txt", "two\n")
	f.After.Encoding = "windows-1252"
	b.wantFault(fault.EncodingError, f)
	f = b.plan("a.txt", "two\n")
	f.After.BOM = true
	b.wantFault(fault.EncodingError, f)

	b.Documents.SetState(doc.path, document.State{Version: 1, ReadOnly: true})
	b.mustCommit(b.plan("a.txt", "two\n")) // past the editor, which could not save it
	b.want("a.txt", "two\n")
	doc.set("typed\n")
	b.Documents.SetState(doc.path, document.State{Version: doc.version, ReadOnly: true, Dirty: true})
	if _, err := b.tryPlan("a.txt", "three\n"); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("read-only in the editor, and unsaved: %v", err)
	}
	b.write("lossy.txt", "caf\xe9")
	b.editor.open(b.path("lossy.txt"), "caf\ufffd")
	if _, err := b.tryPlan("lossy.txt", "th\ufffd"); fault.CodeOf(err) != fault.EncodingError {
		t.Errorf("lossy: %v", err)
	}
	b.write("book.ipynb", "{}")
	b.Documents.SetState(b.path("book.ipynb"), document.State{Dirty: true})
	if _, err := b.tryPlan("book.ipynb", "{ }"); fault.CodeOf(err) != fault.ConcurrentModification {
		t.Errorf("held: %v", err)
	}
	b.Editor = nil
	doc.set("typed\n")
	b.Documents.SetState(doc.path, document.State{Version: 2, Dirty: true})
	b.wantFault(fault.PermissionDenied, b.plan("a.txt", "two\n"))
	b.want("a.txt", "two\n")
}

func TestUndoTakesTheChangeOutOfWhatTheHumanTyped(t *testing.T) {
	b := newBench(t)
	b.write("open.txt", "1\n2\n3\n4\n5\n")
	b.write("z.txt", "z")
	doc := b.show("open.txt")
	honest := func(d *openDocument, e BufferEdit) (BufferResult, error) {
		b.editor.onEdit = nil
		r := d.edit(e)
		d.set(d.text + "typed\n")
		b.write("z.txt", "human")
		return r, nil
	}
	b.editor.onEdit = honest
	if _, err := b.commit(b.plan("open.txt", "agent\n2\n3\n4\n5\n"), b.plan("z.txt", "Z")); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	if doc.text != "1\n2\n3\n4\n5\ntyped\n" || !doc.dirty {
		t.Errorf("the buffer holds %q, dirty %v", doc.text, doc.dirty)
	}
}

func TestASetWhoseOpenFileCannotBeSavedIsTakenBackWhole(t *testing.T) {
	b := newBench(t)
	b.write("open.txt", "one\n")
	b.write("z.txt", "z")
	doc := b.show("open.txt")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		b.editor.onEdit = nil
		e.Save = false // saving failed
		return d.edit(e), nil
	}
	b.wantFault(fault.ExecutionFailed, b.plan("open.txt", "two\n"), b.plan("z.txt", "Z"))
	b.want("open.txt", "one\n")
	b.want("z.txt", "z")
	if doc.text != "one\n" || doc.dirty {
		t.Errorf("the buffer holds %q, dirty %v", doc.text, doc.dirty)
	}
}
