package change

import (
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// TestBytesArePutBack, to the byte, to and fro: also what was a text, or became one.
func TestBytesArePutBack(t *testing.T) {
	b := newTrees(t)
	long := strings.Repeat("\x00\xff\r\nbytes", 20_000)
	b.Write("blob", "\x00\r\n\xff")
	b.Write("text", "one\r\ntwo\n")
	b.Write("becomes", "\x00")
	b.Write("moved", long)
	before := b.all()
	b.commitAs("one", Set{
		Files: []File{b.planBytes("blob", "\x00\n\xff"), b.planBytes("text", "\x00"), b.planBytes("becomes", "a text\n"), b.planBytes("moved", long[10:]), b.planBytes("new", "\x00new")},
		Tree:  []TreeChange{b.move("moved", "to")},
	})
	after := "becomes=a text\n blob=\x00\n\xff new=\x00new text=\x00 to=" + long[10:]
	b.wantAll(after)
	for range 2 {
		b.wantCallReverted("one")
		b.wantAll(before)
		b.wantCallReverted("revert of one")
		b.wantAll(after)
	}
}

// TestBytesAreNotMerged: what somebody wrote since stays.
func TestBytesAreNotMerged(t *testing.T) {
	b := newTrees(t)
	b.Write("blob", "\x00\none\ntwo\nthree\nfour\n")
	b.commitAs("one", Set{Files: []File{b.planBytes("blob", "\x00\nONE\ntwo\nthree\nfour\n")}})
	for _, now := range []string{"\x00\nONE\ntwo\nthree\nFOUR\n", "\x00\r\nONE\r\ntwo\r\nthree\r\nfour\r\n", "a text\n"} {
		b.Write("blob", now)
		if r := b.revertCall("one"); len(r.Conflicts) != 1 || len(r.Reverted)+len(r.Merged) > 0 {
			t.Errorf("%q: reverted: %+v", now, r)
		}
		b.want("blob", now)
	}
}

// TestATextThatWasBytes: changes of both kinds are put back together.
func TestATextThatWasBytes(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "\x00bytes")
	b.commitAs("to text", Set{Files: []File{b.planBytes("f", "one\ntwo\n")}})
	b.commitAs("edited", Set{Files: []File{b.plan("f", "one\nTWO\n")}})
	b.commitAs("to bytes", Set{Files: []File{b.planBytes("f", "\x00again")}})
	b.wantReverted(Selection{}, "all")
	b.want("f", "\x00bytes")
}

// TestBytesThatMovedOn are a conflict, as texts are; and what is open with unsaved text is
// not touched.
func TestBytesThatMovedOn(t *testing.T) {
	b := newTrees(t)
	b.Write("blob", "\x00old")
	f := b.planBytes("blob", "\x00new")
	b.Write("blob", "\x00somebody's")
	b.wantMoved(f)
	b.want("blob", "\x00somebody's")

	b.Write("text", "disk\n")
	d := b.show("text")
	f = b.planBytes("text", "\x00new")
	d.set("typed\n")
	b.wantMoved(f)
	before, err := b.Documents.Snapshot(limit).Read(b.path("text"), document.Binary)
	b.Must(err)
	if _, err := New(before, document.Content{Text: "\x00", Encoding: document.Binary}); fault.CodeOf(err) != fault.ConcurrentModification {
		t.Errorf("planned with %v", err)
	}
	b.want("text", "disk\n")
	d.save()
	b.mustCommit(b.planBytes("text", "\x00new"))
	b.want("text", "\x00new")
}

// TestBytesAreNotShown: a dialog says how many they are, and takes them whole; a yes to some
// bytes is none to others.
func TestBytesAreNotShown(t *testing.T) {
	b := newTrees(t)
	b.Write("blob", "\x00old")
	set := Set{Files: []File{b.planBytes("blob", "\x00\nnewer"), b.planBytes("made", "\x00")}}
	shown := set.Preview()
	for i, want := range []string{"binary, 4 → 7 bytes", "binary, 1 byte"} {
		p, header := shown[i], []string{want, "new file, " + want}[i]
		if p.Whole != want || len(p.Hunks) != 1 || p.Hunks[0].Header != header || p.Before+p.After != "" || !strings.HasSuffix(p.Diff, " differ\n") || strings.Contains(p.Diff, "\x00") {
			t.Errorf("shown as %+v", p)
		}
	}
	chosen, _, _, err := set.Choose([]string{"2"})
	b.Must(err)
	b.commitAs("one", chosen)
	b.wantAll("blob=\x00old made=\x00")

	one, other := Set{Files: []File{b.planBytes("blob", "\x00a")}}, Set{Files: []File{b.planBytes("blob", "\x00b")}}
	if OnlyMoved(one, other) || !OnlyMoved(one, one) {
		t.Error("bytes are taken for others")
	}
}

// TestWhatIsSaidOfAFileThatGoes: a text that is only too large to be shown is not called binary.
func TestWhatIsSaidOfAFileThatGoes(t *testing.T) {
	b := newTrees(t)
	b.Write("blob", "\x00old")
	b.Write("text", "one\ntwo\n")
	b.Write("empty", "")
	for _, c := range []struct {
		name          string
		most          int64
		whole, header string
	}{
		{"blob", limit, "binary, 4 bytes", "deleted, binary, 4 bytes"},
		{"text", limit, "", "deleted"},
		{"empty", limit, "", "deleted"},
		{"text", 7, "too large to show, 8 bytes", "deleted, too large to show, 8 bytes"},
	} {
		gone, err := NewDelete(b.Documents.Snapshot(c.most), b.entry(c.name), false)
		b.Must(err)
		p := Set{Tree: []TreeChange{gone}}.Preview()[0]
		if p.Whole != c.whole || len(p.Hunks) != 1 || p.Hunks[0].Header != c.header {
			t.Errorf("%s of at most %d bytes is shown as %+v", c.name, c.most, p)
		}
	}
}

// TestANewProgramIsToldOf: its lines do not show that it can be run.
func TestANewProgramIsToldOf(t *testing.T) {
	b := newTrees(t)
	b.Write("there", "one\n")
	run, empty, there, bytes := b.plan("run", "one\n"), b.plan("empty", ""), b.plan("there", "two\n"), b.planBytes("bytes", "\x00")
	run.Executable, empty.Executable, there.Executable, bytes.Executable = true, true, true, true
	var told []string
	for _, p := range (Set{Files: []File{run, empty, there, bytes, b.plan("plain", "one\n")}}).Preview() {
		told = append(told, p.Path+": "+p.Note+"; "+p.Whole+"; "+p.Hunks[0].Header)
	}
	want := []string{
		"run: executable, mode 100755; ; @@ -0,0 +1 @@",
		"empty: ; ; new file, executable, mode 100755, empty",
		"there: ; ; @@ -1 +1 @@",
		"bytes: ; executable, mode 100755, binary, 1 byte; new file, executable, mode 100755, binary, 1 byte",
		"plain: ; ; @@ -0,0 +1 @@",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}
