package change

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// TestWhatCannotBeTakenAway is refused before anybody is asked.
func TestWhatCannotBeTakenAway(t *testing.T) {
	b := newTrees(t)
	b.write("dir/file", "")
	b.must(syscall.Mkfifo(b.abs("dir/pipe"), 0o600))
	b.write("book.ipynb", "{}")
	b.Documents.SetState(b.path("book.ipynb"), document.State{Dirty: true})
	snap := b.Documents.Snapshot(limit)
	for name, want := range map[string]fault.Code{"dir": fault.NotAFile, "dir/pipe": fault.NotAFile, "book.ipynb": fault.ConcurrentModification, ".": fault.PermissionDenied} {
		if _, err := NewDelete(snap, b.entry(name), true); fault.CodeOf(err) != want {
			t.Errorf("deleting %s: %v, want %s", name, err, want)
		}
	}
	for to, want := range map[string]fault.Code{"dir/sub": fault.InvalidPath, "book.ipynb": fault.FileExists, ".": fault.FileExists} {
		if _, err := NewMove(snap, b.entry("dir"), b.entry(to), true); fault.CodeOf(err) != want {
			t.Errorf("moving to %s: %v, want %s", to, err, want)
		}
	}
	if _, err := NewMove(snap, b.entry("dir/file"), b.entry("dir/pipe"), true); fault.CodeOf(err) != fault.NotAFile {
		t.Errorf("moving over a pipe: %v", err)
	}
	if _, err := NewMove(snap, b.entry("dir"), b.entry("book.ipynb/below"), true); err == nil {
		t.Error("moved into what is a file")
	}
	if _, err := NewMove(snap, b.entry("dir"), b.entry("late"), true); err != nil {
		t.Error(err)
	}
	b.write("late", "") // after it was looked for
	if _, err := NewDelete(snap, b.entry("late"), true); !errors.Is(err, ErrMoved) {
		t.Errorf("deleting what was not there: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- b.make(b.move("dir", "other")) }() // a pipe moves with its folder, and holds nobody up
	select {
	case err := <-done:
		b.must(err)
	case <-time.After(time.Minute):
		t.Fatal("it waits for the other end of a pipe")
	}
}

// TestAFolderThatMayNotBeWritten goes nevertheless: nothing of it is left behind.
func TestAFolderThatMayNotBeWritten(t *testing.T) {
	if asUser(t, t.Name()); !bound() {
		return
	}
	b := newTrees(t)
	b.write("dir/sub/file", "x")
	b.must(os.Chmod(b.abs("dir/sub"), 0o555))
	b.must(b.make(b.remove("dir")))
	b.wantAll("")
}
