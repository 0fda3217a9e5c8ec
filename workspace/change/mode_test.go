//go:build !windows

package change

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"pillion/internal/fault"
)

func (b trees) modeOf(name string) fs.FileMode {
	b.Helper()
	info, err := os.Stat(b.Abs(name))
	b.Must(err)
	return info.Mode()
}

func (b trees) chmod(name string, mode fs.FileMode) {
	b.Helper()
	b.Must(os.Chmod(b.Abs(name), mode))
}

// TestWhoReadsMayRun: of a mode only the executable bits change, as far as somebody may
// read the file.
func TestWhoReadsMayRun(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "x")
	for _, c := range []struct {
		was        fs.FileMode
		executable bool
		want       fs.FileMode
	}{
		{0o644, true, 0o755},
		{0o600, true, 0o700},
		{0o640, true, 0o750},
		{0o664, true, 0o775},
		{0o444, true, 0o555},
		{0o654, true, 0o755},
		{0o755, false, 0o644},
		{0o711, false, 0o600},
		{0o775, false, 0o664},
		{0o755, true, 0o755},
		{0o644, false, 0o644},
		{0o654, false, 0o654},
		{0o644 | fs.ModeSetuid, true, 0o755},
	} {
		b.chmod("f", c.was)
		b.Must(b.make(b.mode("f", c.executable)))
		if got := b.modeOf("f"); got != c.want {
			t.Errorf("%v, executable %t: made %v, want %v", c.was, c.executable, got, c.want)
		}
	}
}

// TestAModeThatMovedOn: what is not as it was planned keeps its mode.
func TestAModeThatMovedOn(t *testing.T) {
	for name, moves := range map[string]func(b trees){
		"another mode":   func(b trees) { b.chmod("f", 0o600) },
		"made by others": func(b trees) { b.chmod("f", 0o755) },
		"another text":   func(b trees) { b.Write("f", "evil") },
		"another file":   func(b trees) { b.Write("g", "text"); b.Must(os.Rename(b.Abs("g"), b.Abs("f"))) },
		"a link": func(b trees) {
			b.Write("g", "text")
			b.Remove("f")
			b.Link("g", "f")
		},
		"gone": func(b trees) { b.Remove("f") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newTrees(t)
			b.Write("f", "text")
			b.Write("other", "old")
			set := Set{Files: []File{b.plan("other", "new")}, Tree: []TreeChange{b.mode("f", true)}}
			moves(b)
			before := b.all()
			if err := b.commitSet(set); !errors.Is(err, ErrMoved) {
				t.Errorf("committed with %v", err)
			}
			b.wantAll(before)
		})
	}
}

// TestAModeIsTakenBackUnlessItWasChanged: the set fails after the mode was changed.
func TestAModeIsTakenBackUnlessItWasChanged(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "text")
	b.Write("last", "l")
	set := Set{Tree: []TreeChange{b.mode("f", true), b.remove("last")}}
	b.between = func(phase string) {
		if phase == "applied" && b.modeOf("f") == 0o755 {
			b.Write("last", "somebody's")
		}
	}
	if err := b.make(set.Tree...); !errors.Is(err, ErrMoved) || b.modeOf("f") != 0o644 {
		t.Errorf("committed with %v; the mode is %v", err, b.modeOf("f"))
	}
	set = Set{Tree: []TreeChange{b.mode("f", true), b.remove("last")}}
	b.between = func(phase string) {
		if phase == "applied" {
			b.chmod("f", 0o700)
			b.Write("last", "somebody else's")
		}
	}
	if err := b.make(set.Tree...); err == nil || b.modeOf("f") != 0o700 {
		t.Errorf("committed with %v; the mode is %v", err, b.modeOf("f"))
	}
	b.between = nil
}

// TestModesThatAreNotChanged are refused before anybody is asked.
func TestModesThatAreNotChanged(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "text")
	b.Must(os.Link(b.Abs("f"), b.Abs("second")))
	b.Link("f", "link")
	b.Must(os.Mkdir(b.Abs("dir"), 0o755))
	for name, want := range map[string]fault.Code{"f": fault.PermissionDenied, "link": fault.NotAFile, "dir": fault.NotAFile, "none": fault.FileNotFound} {
		if _, err := NewMode(b.Documents.Snapshot(limit), b.entry(name), true); fault.CodeOf(err) != want {
			t.Errorf("%s: planned with %v, want %s", name, err, want)
		}
	}
}

// TestModesArePutBack, with the text and the name that changed in the same set, to and fro.
func TestModesArePutBack(t *testing.T) {
	b := newTrees(t)
	for name, text := range map[string]string{"edited": "old", "moved": "m", "plain": "p"} {
		b.Write(name, text)
	}
	b.Write("run", "r")
	b.chmod("run", 0o750)
	before := b.all()
	made := b.plan("new/made", "n")
	made.Executable = true
	b.commitAs("one", Set{
		Files: []File{b.plan("edited", "new"), b.plan("moved", "M"), made},
		Tree:  []TreeChange{b.mode("edited", true), b.mode("moved", true), b.mode("plain", true), b.mode("run", false), b.move("moved", "new/moved")},
	})
	after := "edited*=new new/ new/made*=n new/moved*=M plain*=p run=r"
	b.wantAll(after)
	for range 2 {
		b.wantCallReverted("one")
		b.wantAll(before)
		if got := b.modeOf("run"); got != 0o750 {
			t.Errorf("it came back as %v", got)
		}
		b.wantCallReverted("revert of one")
		b.wantAll(after)
	}
}

// TestAModeThatSomebodyChangedStays when it is to be put back, and so does its file.
func TestAModeThatSomebodyChangedStays(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "text")
	b.commitAs("one", Set{Tree: []TreeChange{b.mode("f", true)}})
	b.chmod("f", 0o700)
	if r := b.revertCall("one"); len(r.Conflicts) != 1 || b.modeOf("f") != 0o700 {
		t.Errorf("reverted: %+v; the mode is %v", r, b.modeOf("f"))
	}
	b.chmod("f", 0o755)
	b.Write("f", "another text")
	if r := b.revertCall("one"); len(r.Conflicts) != 0 || b.modeOf("f") != 0o644 {
		t.Errorf("reverted: %+v; the mode is %v", r, b.modeOf("f"))
	}
	b.want("f", "another text")
}

// TestWhatWasMadeExecutableAndDeleted comes back step by step.
func TestWhatWasMadeExecutableAndDeleted(t *testing.T) {
	b := newTrees(t)
	b.Write("f", "text")
	b.commitAs("mode", Set{Tree: []TreeChange{b.mode("f", true)}})
	b.commitAs("gone", Set{Tree: []TreeChange{b.remove("f")}})
	b.revertCall("gone")
	b.wantAll("f*=text")
	b.revertCall("mode")
	b.wantAll("f=text")
	b = newTrees(t)
	b.Write("f", "text")
	b.commitAs("again", Set{Tree: []TreeChange{b.mode("f", true)}})
	b.commitAs("gone again", Set{Tree: []TreeChange{b.remove("f")}})
	b.wantReverted(Selection{}, "all")
	b.wantAll("f=text")
}

// TestAFileInTheEditorIsMadeExecutable: its text by the editor, its mode on disk. What
// the user has not saved stays.
func TestAFileInTheEditorIsMadeExecutable(t *testing.T) {
	b := newTrees(t)
	b.Write("clean", "old\n")
	b.Write("dirty", "disk\n")
	b.show("clean")
	b.show("dirty").set("typed\n")
	b.commitAs("one", Set{Files: []File{b.plan("clean", "new\n"), b.plan("dirty", "typed\nmore\n")}, Tree: []TreeChange{b.mode("clean", true), b.mode("dirty", true)}})
	b.wantAll("clean*=new\n dirty*=disk\n")
	b.revertCall("one")
	b.wantAll("clean=old\n dirty=disk\n")
}
