package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

const limit = 1 << 20

// desk is a workspace folder with an editor's buffers over it.
type desk struct {
	*Store
	machine.Folder
}

func newDesk(t *testing.T) *desk {
	dir := t.TempDir()
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	machine.Must(t, err)
	t.Cleanup(func() { w.Close() })
	return &desk{NewStore(w), machine.Folder{TB: t, Dir: dir}}
}

func (d *desk) path(name string) workspace.Path {
	d.Helper()
	p, err := d.Workspace().Resolve(name)
	d.Must(err)
	return p
}

// show opens a buffer; an editor with a plugin also says that it is clean.
func (d *desk) show(name, text string, plugin bool) workspace.Path {
	p := d.path(name)
	d.Open(p, p.URI(), 1, text)
	if plugin {
		d.SetState(p, State{Version: 1, Encoding: "utf8", EOL: "\n"})
	}
	return p
}

func (d *desk) read(name string) *File {
	d.Helper()
	f, err := d.Snapshot(limit).ReadIfExists(d.path(name), "")
	d.Must(err)
	return f
}

// having is a snapshot in which a file was read.
func (d *desk) having(name string) *Snapshot {
	d.Helper()
	s := d.Snapshot(limit)
	_, err := s.Read(d.path(name), "")
	d.Must(err)
	return s
}

// isDirty asks all who can tell, which must agree.
func (d *desk) isDirty(name string) bool {
	d.Helper()
	dirty := d.read(name).Dirty
	if now, then := len(d.Dirty()) > 0, len(d.Snapshot(limit).Dirty()) > 0; now != dirty || then != dirty {
		d.Errorf("dirty: the file says %v, the store %v, a snapshot %v", dirty, now, then)
	}
	return dirty
}

func TestReadsSeeTheUnsavedText(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "on disk\n")
	p := d.show("a.txt", "on disk\n", true)
	if f := d.read("a.txt"); f.Source != FromBuffer || f.Dirty || f.Behind || f.Version != Version([]byte("on disk\n")) {
		t.Errorf("as on disk: %+v", f)
	}
	d.Change(p, 2, "typed\n")
	f := d.read("a.txt")
	if f.Text != "typed\n" || !f.Dirty || f.Source != FromBuffer || f.Version != Version([]byte("typed\n")) || f.DiskVersion != Version([]byte("on disk\n")) {
		t.Errorf("typed: %+v", f)
	}
	if got, err := d.Snapshot(limit).ReadText(p); got != "typed\n" || err != nil {
		t.Errorf("searches see %q, %v", got, err)
	}
	d.Close(p)
	if f := d.read("a.txt"); f.Text != "on disk\n" || f.Buffer != nil {
		t.Errorf("closed: %+v", f)
	}
}

func TestBehindIsTheTextOfTheDisk(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "old")
	p := d.show("a.txt", "old", true)
	d.Write("a.txt", "new")
	if f := d.read("a.txt"); !f.Behind || f.Text != "new" || f.Source != FromDisk || f.Buffer == nil {
		t.Errorf("%+v", f)
	}
	d.Change(p, 2, "new")
	if f := d.read("a.txt"); f.Behind || f.Source != FromBuffer {
		t.Errorf("reloaded: %+v", f)
	}
	d.Remove("a.txt")
	if f := d.read("a.txt"); f.Exists || f.Behind || f.Dirty || f.DiskVersion != Absent {
		t.Errorf("gone, with nothing unsaved: %+v", f)
	}
}

func TestLineEndsOfTheEditor(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "a\r\nb\nc\r\n")
	d.show("a.txt", "a\r\nb\r\nc\r\n", true)
	f := d.read("a.txt")
	if f.Dirty || f.Behind || f.Source != FromBuffer || f.Version != f.DiskVersion {
		t.Fatalf("%+v", f)
	}
	if got := f.OnDisk("a\r\nb\r\nX\r\nc\r\n"); got != "a\r\nb\nX\nc\r\n" {
		t.Errorf("on disk it would be %q", got)
	}
}

// TestLossyBuffers: an editor that could not decode a file shows replacement
// characters, and would write them.
func TestLossyBuffers(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "caf\xe9")
	d.show("a.txt", "caf\ufffd", true)
	if f := d.read("a.txt"); !f.Lossy || f.Dirty || f.Text != "caf\ufffd" {
		t.Errorf("%+v", f)
	}
	d.show("a.txt", "café", false) // detected its encoding and does not say which
	if f := d.read("a.txt"); f.Lossy || !f.Dirty || f.Text != "café" {
		t.Errorf("%+v", f)
	}
	d.show("a.txt", "text", true)
	d.Write("a.txt", "\x00\x01")
	if _, err := d.Snapshot(limit).Read(d.path("a.txt"), ""); fault.CodeOf(err) != fault.BinaryFile {
		t.Errorf("a clean file that became binary: %v", err)
	}
}

func TestMarkOfTheFile(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "\xef\xbb\xbfa")
	d.show("a.txt", "a", true)
	if f := d.read("a.txt"); !f.BOM || f.Dirty || f.Source != FromBuffer {
		t.Errorf("%+v", f)
	}
	p := d.path("new.txt")
	d.Open(p, p.URI(), 1, "n")
	d.SetState(p, State{Version: 1, Dirty: true, Encoding: "utf16le", BOM: true})
	if f := d.read("new.txt"); !f.BOM || f.Encoding != utf16LE || f.Version != Version([]byte("\xff\xfen\x00")) || f.DiskVersion != Absent || !f.Exists {
		t.Errorf("a file that is only in the editor: %+v", f)
	}
}

func TestLinksLeadToTheBuffer(t *testing.T) {
	d := newDesk(t)
	d.Write("real.txt", "disk")
	d.Link("real.txt", "link.txt")
	d.show("real.txt", "typed", false)
	if f := d.read("link.txt"); f.Text != "typed" || !f.Dirty {
		t.Errorf("through the link: %+v", f)
	}
}

func TestFileOpenUnderTwoNames(t *testing.T) {
	d := newDesk(t)
	d.Write("real.txt", "disk")
	d.Link("real.txt", "link.txt")
	file, link := d.show("real.txt", "disk", true), d.show("link.txt", "disk", true)
	d.Change(link, 2, "typed")
	d.SetState(link, State{Version: 2, Dirty: true})
	for _, name := range []string{"real.txt", "link.txt"} {
		if f := d.read(name); f.Text != "typed" || !f.Dirty {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if b := d.Buffer(file); b == nil || b.Text != "disk" || b.Path != file {
		t.Errorf("the editor's own name leads to %+v", b)
	}
	d.Close(link)
	if f := d.read("link.txt"); f.Text != "disk" || f.Buffer == nil || f.Buffer.Path != file {
		t.Errorf("with one of two closed: %+v", f)
	}
	d.Close(file)
	if b := d.Snapshot(limit).Buffer(link); b != nil {
		t.Errorf("with both closed: %+v", b)
	}
}

func TestLinkThatMovesAway(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "a")
	d.Write("b.txt", "b")
	d.Link("a.txt", "link.txt")
	link := d.show("link.txt", "a", true)
	d.Remove("link.txt")
	d.Link("b.txt", "link.txt")
	if f := d.read("a.txt"); f.Buffer != nil {
		t.Errorf("a.txt has the buffer of a link that leads elsewhere: %+v", f)
	}
	d.Change(link, 2, "b")
	if f := d.read("link.txt"); f.Text != "b" || f.Buffer == nil {
		t.Errorf("the link: %+v", f)
	}
	d.Close(link)
	if d.Buffer(link) != nil || d.Buffer(d.path("a.txt")) != nil || d.Buffer(d.path("b.txt")) != nil {
		t.Error("a closed buffer stayed")
	}
}

func TestHeldByANotebook(t *testing.T) {
	d := newDesk(t)
	d.Write("a.ipynb", "{}")
	p := d.path("a.ipynb")
	before := d.having("a.ipynb")
	d.SetState(p, State{Dirty: true})
	if f := d.read("a.ipynb"); !f.Held || f.Text != "{}" || len(d.Dirty()) != 1 || d.Dirty()[0].Path != p {
		t.Errorf("%+v, dirty %v", f, d.Dirty())
	}
	if !d.Moved(before) {
		t.Error("a plan stands although the user began to edit")
	}
	d.SetState(p, State{})
	if f := d.read("a.ipynb"); f.Held || len(d.Dirty()) != 0 {
		t.Errorf("saved: %+v", f)
	}
}

func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name  string
		open  bool
		does  func(d *desk, p workspace.Path)
		moved bool
	}{
		{"nothing", false, func(*desk, workspace.Path) {}, false},
		{"written with the same bytes", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", "one\n") }, false},
		{"written", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", "two\n") }, true},
		{"only line ends", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", "one\r\n") }, true},
		{"only a mark", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", "\ufeffone\n") }, true},
		{"deleted", false, func(d *desk, _ workspace.Path) { d.Remove("a.txt") }, true},
		{"became a folder", false, func(d *desk, _ workspace.Path) { d.Remove("a.txt"); os.Mkdir(d.Abs("a.txt"), 0o755) }, true},
		{"became binary", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", "\x00") }, true},
		{"became too large", false, func(d *desk, _ workspace.Path) { d.Write("a.txt", strings.Repeat("x", limit+1)) }, true},
		{"became a link to the same", false, func(d *desk, _ workspace.Path) {
			d.Write("b.txt", "one\n")
			d.Remove("a.txt")
			d.Link("b.txt", "a.txt")
		}, false},
		{"opened as it is", false, func(d *desk, _ workspace.Path) { d.show("a.txt", "one\n", true) }, false},
		{"opened and typed in", false, func(d *desk, _ workspace.Path) { d.show("a.txt", "mine\n", false) }, true},
		{"typed in", true, func(d *desk, p workspace.Path) { d.Change(p, 2, "mine\n") }, true},
		{"typed in and undone", true, func(d *desk, p workspace.Path) { d.Change(p, 2, "mine\n"); d.Change(p, 3, "one\n") }, false},
		{"said dirty", true, func(d *desk, p workspace.Path) { d.SetState(p, State{Version: 1, Dirty: true}) }, true},
		{"changed beneath a clean buffer", true, func(d *desk, _ workspace.Path) { d.Write("a.txt", "two\n") }, true},
		{"changed beneath, and reloaded", true, func(d *desk, p workspace.Path) { d.Write("a.txt", "two\n"); d.Change(p, 2, "two\n") }, true},
		{"deleted beneath a clean buffer", true, func(d *desk, _ workspace.Path) { d.Remove("a.txt") }, true},
		{"unreadable beneath a clean buffer", true, func(d *desk, _ workspace.Path) { d.Write("a.txt", "caf\xe9") }, true},
		{"closed", true, func(d *desk, p workspace.Path) { d.Close(p) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.Write("a.txt", "one\n")
			p := d.path("a.txt")
			if c.open {
				d.show("a.txt", "one\n", true)
			}
			snapshot := d.having("a.txt")
			c.does(d, p)
			if got := d.Moved(snapshot); got != c.moved {
				t.Errorf("moved: %v, want %v", got, c.moved)
			}
		})
	}
}

func TestMovedSeesAFileAppear(t *testing.T) {
	d := newDesk(t)
	snapshot := d.Snapshot(limit)
	if f, err := snapshot.ReadIfExists(d.path("new.txt"), ""); err != nil || f.Exists || f.Version != Absent {
		t.Fatalf("%+v, %v", f, err)
	}
	if d.Moved(snapshot) {
		t.Error("moved before anything happened")
	}
	d.Write("new.txt", "")
	if !d.Moved(snapshot) {
		t.Error("an empty file appeared unseen")
	}
}

func TestDirtyBufferOverAChangingDisk(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "one")
	d.show("a.txt", "mine", false)
	snapshot := d.having("a.txt")
	d.Write("a.txt", "two")
	if !d.Moved(snapshot) {
		t.Error("the bytes beneath a dirty buffer changed unseen")
	}
	d.Write("a.txt", "mine")
	if !d.Moved(snapshot) {
		t.Error("it was saved unseen: the next change would not be left unsaved")
	}
}

// TestSnapshotsKeepTheirBuffers: a view does not change under a plan.
func TestSnapshotsKeepTheirBuffers(t *testing.T) {
	d := newDesk(t)
	p := d.show("a.txt", "one", false)
	snapshot := d.Snapshot(limit)
	d.Change(p, 2, "two")
	d.Close(p)
	if f, err := snapshot.Read(p, ""); err != nil || f.Text != "one" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestRereadInAnotherEncoding(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "caf\xe9")
	snapshot := d.Snapshot(limit)
	p := d.path("a.txt")
	if _, err := snapshot.Read(p, ""); fault.CodeOf(err) != fault.EncodingError || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("%v", err)
	}
	if f, err := snapshot.Read(p, "windows-1252"); err != nil || f.Text != "café" {
		t.Fatalf("%+v, %v", f, err)
	}
	if d.Moved(snapshot) {
		t.Error("moved although it is read in the same encoding")
	}
}

func TestReadFailures(t *testing.T) {
	d := newDesk(t)
	d.Write("large.txt", strings.Repeat("x", limit+1))
	d.Link("nowhere", "dangling")
	for name, want := range map[string]fault.Code{"large.txt": fault.FileTooLarge, "dangling": fault.FileNotFound, "none": fault.FileNotFound, ".": fault.NotAFile} {
		if _, err := d.Snapshot(limit).Read(d.path(name), ""); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotify(t *testing.T) {
	d := newDesk(t)
	signal := make(chan struct{}, 1)
	stop := d.Notify(signal)
	got := func() bool {
		select {
		case <-signal:
			return true
		default:
			return false
		}
	}
	p := d.show("a.txt", "one", false)
	if !got() || got() {
		t.Error("opening should signal once")
	}
	d.Change(p, 2, "two")
	d.Change(p, 3, "three") // nobody took the first signal: it stands for both
	if !got() || got() {
		t.Error("changes should signal once until taken")
	}
	d.Touched()
	if !got() {
		t.Error("a change on disk was not passed on")
	}
	stop()
	d.Close(p)
	if got() {
		t.Error("signalled after the end")
	}
}

// TestConcurrentReaders is for the race detector: readers never wait for, nor
// see half of, what the editor says.
func TestConcurrentReaders(t *testing.T) {
	d := newDesk(t)
	p := d.show("a.txt", "0", false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int32(300) {
			d.Change(p, i+2, strings.Repeat("x", int(i)))
			if i%50 == 0 {
				d.Close(p)
				d.Open(p, p.URI(), i+2, strings.Repeat("x", int(i)))
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			if f, err := d.Snapshot(limit).ReadIfExists(p, ""); err != nil || f.Exists && f.Buffer == nil {
				t.Fatalf("%+v, %v", f, err)
			}
			d.Dirty()
		}
	}
}

// TestExpected: bytes that are found as expected have the version that they are said to
// have; others have their own.
func TestExpected(t *testing.T) {
	d := newDesk(t)
	d.Write("file", "text")
	for bytes, want := range map[string]string{"text": "said", "other": Version([]byte("text"))} {
		s := d.Snapshot(limit)
		s.Expect(func(abs string) (string, string) {
			if abs != d.Abs("file") {
				t.Errorf("asked for %s", abs)
			}
			return bytes, "said"
		})
		if f, err := s.Read(d.path("file"), ""); err != nil || f.Version != want || f.DiskVersion != want {
			t.Errorf("%s: %v, %v", bytes, f, err)
		}
	}
}

// TestOpenFileIsReadEachTime: that a file holds what its buffer does is not taken for
// granted, however alike they look from outside.
func TestOpenFileIsReadEachTime(t *testing.T) {
	d := newDesk(t)
	d.Write("file", "text")
	info, err := d.path("file").Stat()
	machine.Must(t, err)
	d.Open(d.path("file"), "", 1, "text")
	d.SetState(d.path("file"), State{Version: 1})
	for _, onDisk := range []string{"text", "next", "text", "longer", ""} {
		d.Write("file", onDisk)
		machine.Must(t, os.Chtimes(d.Abs("file"), info.ModTime(), info.ModTime()))
		f, err := d.Snapshot(limit).Read(d.path("file"), "")
		if err != nil || f.Text != onDisk || f.DiskVersion != Version([]byte(onDisk)) || f.Version != f.DiskVersion || f.Behind != (onDisk != "text") {
			t.Errorf("%q: %+v, %v", onDisk, f, err)
		}
	}
}

// TestLinkOfOneView: a view follows a link once; the next one follows it anew.
func TestLinkOfOneView(t *testing.T) {
	d := newDesk(t)
	d.Write("a", "")
	d.Write("b", "")
	d.Link("a", "link")
	before := d.Snapshot(limit)
	first := before.Real(d.path("link"))
	d.Remove("link")
	d.Link("b", "link")
	if first != d.path("a") || before.Real(d.path("link")) != first || d.Snapshot(limit).Real(d.path("link")) != d.path("b") {
		t.Errorf("%s, then %s", first, before.Real(d.path("link")))
	}
}

// What is asked for twice in one view is one text, and each view has its own.
func TestATextIsOneTextInAView(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "first\n")
	view := d.Snapshot(limit)
	read := func(s *Snapshot, want string) {
		t.Helper()
		if got, err := s.ReadText(d.path("a.txt")); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	read(view, "first\n")
	d.Write("a.txt", "second\n")
	read(view, "first\n")
	read(d.Snapshot(limit), "second\n")
}

// TestDirtiness follows a buffer through what editors send, with and without the
// state that LSP does not have.
func TestDirtiness(t *testing.T) {
	d := newDesk(t)
	state := func(version int32, dirty bool) func(workspace.Path) {
		return func(p workspace.Path) {
			d.SetState(p, State{Version: version, Dirty: dirty, Encoding: "utf8"})
		}
	}
	change := func(version int32, text string) func(workspace.Path) {
		return func(p workspace.Path) { d.Change(p, version, text) }
	}
	disk := func(text string) func(workspace.Path) {
		return func(workspace.Path) { d.Write("a.txt", text) }
	}
	saved := func(p workspace.Path) { d.Saved(p) }
	type events = []func(workspace.Path)
	for _, c := range []struct {
		name  string
		does  events
		dirty bool
		text  string
	}{
		{"opened, nothing said", events{}, false, "one"},
		{"typed, nothing said", events{change(2, "two")}, true, "two"},
		{"typed and saved, nothing said", events{change(2, "two"), disk("two"), saved}, false, "two"},
		{"clean, and the disk changes", events{state(1, false), disk("other")}, false, "other"},
		{"nothing said, and the disk changes", events{disk("other")}, false, "other"},
		{"nothing said, the disk changes and is reloaded", events{disk("other"), change(2, "other"), disk("more")}, false, "more"},
		{"typed, and the disk changes", events{change(2, "two"), disk("other")}, true, "two"},
		{"typed, saved, and the disk changes", events{change(2, "two"), disk("two"), saved, disk("other")}, false, "other"},
		{"clean, and the file goes", events{state(1, false), func(workspace.Path) { d.Remove("a.txt") }}, false, ""},
		{"nothing said, and the file goes", events{func(workspace.Path) { d.Remove("a.txt") }}, false, ""},
		{"typed, before the editor says dirty", events{state(1, false), change(2, "two")}, true, "two"},
		{"said dirty", events{state(1, false), change(2, "two"), state(2, true)}, true, "two"},
		{"dirty with the text of the disk", events{state(1, true)}, true, "one"},
		{"undone", events{state(1, false), change(2, "two"), state(2, true), change(3, "one"), state(3, false)}, false, "one"},
		{"clean said of an older version", events{state(1, false), change(2, "two"), change(3, "three"), state(2, false)}, true, "three"},
		{"clean said of a version to come", events{state(7, false), disk("other")}, true, "one"},
		{"that version comes", events{state(2, false), disk("other"), change(2, "other")}, false, "other"},
		{"reloaded without another word", events{state(1, false), disk("other"), change(2, "other")}, false, "other"},
		{"reloaded, then the disk changes again", events{state(1, false), disk("b"), change(2, "b"), disk("c")}, false, "c"},
		{"reloaded late: the disk is further on", events{state(1, false), disk("c"), change(2, "b"), change(3, "c"), disk("d")}, false, "d"},
		{"saved", events{state(1, false), change(2, "two"), state(2, true), disk("two"), saved}, false, "two"},
		{"typed while it was being saved", events{state(1, false), change(2, "two"), state(2, true), disk("two"), change(3, "three"), saved}, true, "three"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.TB = t
			d.Write("a.txt", "one")
			p := d.show("a.txt", "one", false)
			defer d.Close(p)
			for _, event := range c.does {
				event(p)
			}
			if got := d.isDirty("a.txt"); got != c.dirty {
				t.Errorf("dirty: %v, want %v", got, c.dirty)
			}
			if f := d.read("a.txt"); f.Text != c.text {
				t.Errorf("the text is %q, want %q", f.Text, c.text)
			}
		})
	}
}

func TestDirtinessInAnotherEncoding(t *testing.T) {
	d := newDesk(t)
	d.Write("a.txt", "caf\xe9")
	p := d.show("a.txt", "café", false)
	d.SetState(p, State{Version: 1, Encoding: "windows1252"})
	d.Write("a.txt", "th\xe9")
	d.Change(p, 2, "thé") // reloaded
	if f := d.read("a.txt"); d.isDirty("a.txt") || f.Text != "thé" || f.Encoding != "windows-1252" {
		t.Errorf("%+v", f)
	}
	d.SetState(p, State{Version: 2, Encoding: "an unknown one"})
	if f := d.read("a.txt"); f.Text != "thé" || f.Source != FromBuffer || f.DiskFault == nil {
		t.Errorf("in an encoding unknown here: %+v", f)
	}
}

// What a name outside leads to has moved when a command could do something else by
// it, and not because a folder, a device or an empty file was written to.
func TestMovedOutside(t *testing.T) {
	for name, c := range map[string]struct {
		text  string // of the file, before
		do    func(dir, file string) error
		moved bool
	}{
		"nothing":              {"echo", func(string, string) error { return nil }, false},
		"other text":           {"echo", func(_, file string) error { return os.WriteFile(file, []byte("exit"), 0o644) }, true},
		"another mode":         {"echo", func(_, file string) error { return os.Chmod(file, 0o755) }, true},
		"gone":                 {"echo", func(_, file string) error { return os.Remove(file) }, true},
		"an empty file, again": {"", func(_, file string) error { return os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)) }, false},
		"no longer empty":      {"", func(_, file string) error { return os.WriteFile(file, []byte("x"), 0o644) }, true},
		"a folder in its place": {"echo", func(_, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o755)
		}, true},
		"a busy folder": {"echo", func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o644) }, false},
		"its time":      {"echo", func(_, file string) error { return os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			machine.Must(t, os.WriteFile(file, []byte(c.text), 0o644))
			snap := d.Snapshot(limit)
			for _, outside := range []string{dir, file, os.DevNull, "/proc/self/stat"} {
				snap.RestOnOutside(outside)
			}
			machine.Must(t, c.do(dir, file))
			if d.Moved(snap) != c.moved {
				t.Errorf("moved is to be %t", c.moved)
			}
		})
	}
}
