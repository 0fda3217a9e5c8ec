package change

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// TestABufferIsChanged once, and what is reported is what it and the disk hold then.
func TestABufferIsChanged(t *testing.T) {
	then := func(d *openDocument, e BufferEdit, more string) BufferResult {
		r := d.edit(e)
		d.set(d.text + more)
		return r
	}
	for name, c := range map[string]struct {
		disk, typed, text string // typed is "" where the user typed nothing
		stock             bool
		planned           func(b *bench)
		does              func(d *openDocument, e BufferEdit) (BufferResult, error)
		format            func(string) string
		onDisk, inBuffer  string
		saved, formatted  bool
	}{
		"clean":   {disk: "one\ntwo\n", text: "one\n2\n", onDisk: "one\n2\n", inBuffer: "one\n2\n", saved: true},
		"unsaved": {disk: "one\ntwo\n", typed: "mine\ntwo\n", text: "mine\n2\n", onDisk: "one\ntwo\n", inBuffer: "mine\n2\n"},
		"unsaved, and the disk moved on": {
			disk: "one\n", typed: "mine\n", text: "mine\nagent\n", planned: func(b *bench) { b.Write("a.txt", "from outside\n") }, onDisk: "from outside\n", inBuffer: "mine\nagent\n",
		},
		"only in the editor": {disk: "<absent>", typed: "draft\n", text: "draft\nagent\n", onDisk: "<absent>", inBuffer: "draft\nagent\n"},
		"formatted":          {disk: "one\n", text: "one\ntwo\n", format: strings.ToUpper, onDisk: "ONE\nTWO\n", inBuffer: "ONE\nTWO\n", saved: true, formatted: true},
		"typed into meanwhile, which is not the formatter's": {
			disk: "one\n", text: "two\n", does: func(d *openDocument, e BufferEdit) (BufferResult, error) { return then(d, e, "typed"), nil },
			onDisk: "two\n", inBuffer: "two\ntyped",
		},
		"saving fails": {
			disk: "one\n", text: "two\n", does: func(d *openDocument, e BufferEdit) (BufferResult, error) { e.Save = false; return d.edit(e), nil },
			onDisk: "one\n", inBuffer: "two\n",
		},
		"it says that it saved, and did not": {
			disk: "one\n", text: "two\n", does: func(d *openDocument, e BufferEdit) (BufferResult, error) {
				e.Save = false
				r := d.edit(e)
				r.Dirty = false
				return r, nil
			},
			onDisk: "one\n", inBuffer: "two\n",
		},
		"it answers too late": {
			disk: "one\n", text: "two\n", does: func(d *openDocument, e BufferEdit) (BufferResult, error) {
				d.edit(e)
				return BufferResult{}, context.DeadlineExceeded
			},
			onDisk: "two\n", inBuffer: "two\n", // saved is what nobody said
		},
		"without a plugin, and typed into": {
			stock: true, disk: "a\nb\n", typed: "a\nb\nmine\n", text: "agent\nb\nmine\n",
			does: func(d *openDocument, e BufferEdit) (BufferResult, error) {
				then(d, e, "typed\n")
				return stockAnswer(e), nil
			},
			onDisk: "a\nb\n", inBuffer: "agent\nb\nmine\ntyped\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.editor.plugin = !c.stock
			if c.disk != "<absent>" {
				b.Write("a.txt", c.disk)
			}
			doc := b.show("a.txt")
			if doc.format = c.format; c.typed != "" {
				doc.set(c.typed)
			}
			edits := 0
			b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
				if edits++; c.does != nil {
					return c.does(d, e)
				}
				return d.edit(e), nil
			}
			f := b.plan("a.txt", c.text)
			if c.planned != nil {
				c.planned(b)
			}
			o := b.mustCommit(f)[0]
			b.want("a.txt", c.onDisk)
			if edits != 1 || doc.text != c.inBuffer || doc.dirty != (c.onDisk != c.inBuffer) || o.Saved != c.saved || o.Formatted != c.formatted || len(o.Hunks) != 1 ||
				o.Version != document.Version([]byte(c.inBuffer)) || o.Bytes != len(c.inBuffer) {
				t.Errorf("%d edits, the buffer %q, dirty %t: %+v", edits, doc.text, doc.dirty, o)
			}
		})
	}
}

// TestLateNotifications: the answer overtakes the change that it speaks of.
func TestLateNotifications(t *testing.T) {
	b, _ := showing(t, "one\n")
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
		b.Write("a.txt", "one\n")
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

// showing is a bench with one file, which the editor shows.
func showing(t *testing.T, text string) (*bench, *openDocument) {
	b := newBench(t)
	b.Write("a.txt", text)
	return b, b.show("a.txt")
}

// stock is an editor without a plugin: workspace/applyEdit, of which nobody saves
// and whose answer says little.
func stock(t *testing.T, text, typed string) (*bench, *openDocument) {
	b := newBench(t)
	b.editor.plugin = false
	b.Write("a.txt", text)
	d := b.show("a.txt")
	d.set(typed)
	return b, d
}

func stockAnswer(e BufferEdit) BufferResult {
	return BufferResult{Applied: true, Version: e.Version + 1, Dirty: true}
}

func TestStockEditorTellsOfOneEditInSeveralChanges(t *testing.T) {
	b, _ := stock(t, "a\nb\nc\n", "a\nb\nc\nmine\n")
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
	b, d := stock(t, "a\nb\n", "a\nb\nmine\n")
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

// TestStockEditorsCleanFile is written on disk, with the line ends that it has
// there and not those that the editor shows.
func TestStockEditorsCleanFile(t *testing.T) {
	b := newBench(t)
	b.editor.plugin = false
	b.Write("a.txt", "a\r\nb\nc\r\n")
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
	b.Write("a.txt", "caf\xe9")
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
			b, _ := showing(t, "one\n")
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
	b, _ := showing(t, "")
	f := b.plan("a.txt", "agent\n")
	b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
		d.set("human\n")
		return d.edit(e), nil
	}
	b.wantMoved(f)
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
			b, _ := showing(t, "one\n")
			b.editor.onEdit = func(*openDocument, BufferEdit) (BufferResult, error) { return c.result, c.err }
			_, err := b.commit(b.plan("a.txt", "two\n"))
			if err == nil || errors.Is(err, ErrMoved) != c.moved {
				t.Errorf("%v", err)
			}
			b.want("a.txt", "one\n")
		})
	}
}

// TestCancelledWhileTheEditorWorks: what is on its way is made whole and known.
func TestCancelledWhileTheEditorWorks(t *testing.T) {
	b, doc := showing(t, "one\n")
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
	b, doc := showing(t, "one\n")
	f := b.plan("a.txt", "agent\n")
	b.Write("a.txt", "from outside\n")
	b.wantMoved(f)
	b.want("a.txt", "from outside\n")
	if doc.text != "one\n" {
		t.Errorf("the buffer holds %q", doc.text)
	}
}

// TestEditorThatNeverReloads: the buffer is clean, so the disk is the text, and a
// change of it is made there.
func TestEditorThatNeverReloads(t *testing.T) {
	b, doc := showing(t, "one\n")
	b.Write("a.txt", "from outside\n")
	b.mustCommit(b.plan("a.txt", "from outside\nagent\n"))
	b.want("a.txt", "from outside\nagent\n")
	b.Remove("a.txt")
	if o := b.mustCommit(b.plan("a.txt", "anew\n"))[0]; o.Operation != Create {
		t.Errorf("%+v", o)
	}
	b.want("a.txt", "anew\n")
	if doc.text != "one\n" {
		t.Errorf("the buffer holds %q", doc.text)
	}
	f := b.plan("a.txt", "again\n")
	doc.set("typed at last\n")
	b.wantMoved(f)
}

func TestBufferRefusals(t *testing.T) {
	b, doc := showing(t, "one\n")
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
	b.Write("lossy.txt", "caf\xe9")
	b.editor.open(b.path("lossy.txt"), "caf\ufffd")
	if _, err := b.tryPlan("lossy.txt", "th\ufffd"); fault.CodeOf(err) != fault.EncodingError {
		t.Errorf("lossy: %v", err)
	}
	b.Write("book.ipynb", "{}")
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

// TestTheBufferOfASetThatFails is as it was, but for what the user did to it in the meantime.
func TestTheBufferOfASetThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		does  func(b *bench, d *openDocument, e BufferEdit) BufferResult
		text  string
		dirty bool
		code  fault.Code
		says  string // "" where the set may be planned again
	}{
		"another file of it moved, and the user typed": {func(b *bench, d *openDocument, e BufferEdit) BufferResult {
			b.Write("z.txt", "human")
			r := d.edit(e)
			d.set(d.text + "typed\n")
			return r
		}, "1\n2\n3\n4\n5\ntyped\n", true, fault.ConcurrentModification, ""},
		"the user went on with the change": {func(b *bench, d *openDocument, e BufferEdit) BufferResult {
			b.Write("z.txt", "human")
			r := d.edit(e)
			d.set("agent and more\n")
			return r
		}, "agent and more\n", true, fault.ConcurrentModification, "open.txt keeps its change"},
		"it cannot be saved": {func(_ *bench, d *openDocument, e BufferEdit) BufferResult {
			e.Save = false
			return d.edit(e)
		}, "1\n2\n3\n4\n5\n", false, fault.ExecutionFailed, "could not save open.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Write("open.txt", "1\n2\n3\n4\n5\n")
			b.Write("z.txt", "z")
			doc := b.show("open.txt")
			b.editor.onEdit = func(d *openDocument, e BufferEdit) (BufferResult, error) {
				b.editor.onEdit = nil
				return c.does(b, d, e), nil
			}
			_, err := b.commit(b.plan("open.txt", "agent\n2\n3\n4\n5\n"), b.plan("z.txt", "Z"))
			if fault.CodeOf(err) != c.code || errors.Is(err, ErrMoved) != (c.says == "") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("committed with %v, want it said %q", err, c.says)
			}
			if doc.text != c.text || doc.dirty != c.dirty || b.onDisk("z.txt") == "Z" {
				t.Errorf("the buffer holds %q, dirty %t; z.txt is %q", doc.text, doc.dirty, b.onDisk("z.txt"))
			}
			if !c.dirty {
				b.want("open.txt", c.text)
			}
		})
	}
}
