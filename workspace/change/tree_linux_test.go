package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/document"
)

// TestWhatCannotBeTakenAway is refused before anybody is asked.
func TestWhatCannotBeTakenAway(t *testing.T) {
	b := newTrees(t)
	b.Write("dir/file", "")
	b.Must(syscall.Mkfifo(b.Abs("dir/pipe"), 0o600))
	b.Write("book.ipynb", "{}")
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
	b.Write("late", "") // after it was looked for
	if _, err := NewDelete(snap, b.entry("late"), true); !errors.Is(err, ErrMoved) {
		t.Errorf("deleting what was not there: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- b.make(b.move("dir", "other")) }() // a pipe moves with its folder, and holds nobody up
	select {
	case err := <-done:
		b.Must(err)
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
	b.Write("dir/sub/file", "x")
	b.Must(os.Chmod(b.Abs("dir/sub"), 0o555))
	b.Must(b.make(b.remove("dir")))
	b.wantAll("")
}

// TestAnotherOwnersFolderStays: the set fails as a whole, before anything is removed.
func TestAnotherOwnersFolderStays(t *testing.T) {
	const foreign = "PILLION_TEST_FOREIGN"
	if os.Getenv(foreign) == "" {
		if bound() {
			t.Log("only root can make a folder of somebody else's")
			return
		}
		dir := t.TempDir()
		machine.Must(t, os.MkdirAll(filepath.Join(dir, "build/cache/theirs"), 0o755))
		machine.Must(t, os.WriteFile(filepath.Join(dir, "build/cache/theirs/file"), []byte("theirs"), 0o644))
		machine.Must(t, os.WriteFile(filepath.Join(dir, "build/mine"), []byte("mine"), 0o644))
		for _, name := range []string{".", "build", "build/cache", "build/mine"} {
			machine.Must(t, os.Chown(filepath.Join(dir, name), 1234, 1234))
		}
		t.Setenv(foreign, dir)
		asUser(t, t.Name())
		return
	}
	b := trees{newBenchIn(t, os.Getenv(foreign))}
	before := b.all()
	err := b.make(b.remove("build"))
	if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "build/cache/theirs") {
		t.Errorf("removed with %v", err)
	}
	b.wantAll(before)
}

// TestRootCannotRemoveEverything: a file on which another one is mounted stays, and the
// answer says so.
func TestRootCannotRemoveEverything(t *testing.T) {
	b := newTrees(t)
	for _, name := range []string{"dir/a", "dir/sub/busy", "dir/sub/c", "other"} {
		b.Write(name, name)
	}
	plan := b.remove("dir")
	if err := unix.Mount(b.Abs("other"), b.Abs("dir/sub/busy"), "", unix.MS_BIND, ""); err != nil {
		t.Logf("nothing can be mounted here (%v); TestARemovalThatFailsIsTold stands in for it", err)
		return
	}
	mounted := true
	unmount := func() {
		if mounted {
			mounted = unix.Unmount(b.Abs("dir/sub/busy"), unix.MNT_DETACH) != nil
		}
	}
	t.Cleanup(unmount)
	err := b.make(plan)
	if err == nil {
		t.Fatalf("told as done: %s", b.all())
	}
	unmount()
	if strings.Contains(b.all(), "dir/a") { // it was noticed first
		b.wantAll("dir/ dir/a=dir/a dir/sub/ dir/sub/busy=dir/sub/busy dir/sub/c=dir/sub/c other=other")
		return
	}
	b.wantAll("dir/ dir/sub/ dir/sub/busy=dir/sub/busy other=other")
	if !strings.Contains(err.Error(), "dir/sub/busy") || strings.Contains(err.Error(), "dir/a") {
		t.Errorf("the answer is %v", err)
	}
}

// TestWhatIsImmutableStays, and all that would go with it.
func TestWhatIsImmutableStays(t *testing.T) {
	for _, name := range []string{"dir/sub/fixed", "dir/sub"} {
		b := newTrees(t)
		for _, file := range []string{"dir/a", "dir/sub/fixed", "dir/sub/c"} {
			b.Write(file, file)
		}
		before := b.all()
		if err := setImmutable(b.Abs(name), true); err != nil {
			t.Logf("nothing can be made immutable here (%v); TestARemovalThatFailsIsTold stands in for it", err)
			return
		}
		defer setImmutable(b.Abs(name), false) //nolint:errcheck // the folder of the test stays, then
		err := b.make(b.remove("dir"))
		if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "dir/sub") {
			t.Errorf("%s: removed with %v", name, err)
		}
		b.wantAll(before)
		machine.Must(t, setImmutable(b.Abs(name), false))
		b.Must(b.make(b.remove("dir")))
	}
}

func setImmutable(name string, on bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	const immutable = 0x10
	if flags &^= immutable; on {
		flags |= immutable
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
	if errors.Is(err, syscall.ENOTTY) {
		return errors.ErrUnsupported
	}
	return err
}
