package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
)

// TestAnotherOwnersFolderStays: the set fails as a whole, before anything is removed.
func TestAnotherOwnersFolderStays(t *testing.T) {
	const foreign = "PILLION_TEST_FOREIGN"
	if os.Getenv(foreign) == "" {
		if bound() {
			t.Log("only root can make a folder of somebody else's")
			return
		}
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, "build/cache/theirs"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "build/cache/theirs/file"), []byte("theirs"), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "build/mine"), []byte("mine"), 0o644))
		for _, name := range []string{".", "build", "build/cache", "build/mine"} {
			must(t, os.Chown(filepath.Join(dir, name), 1234, 1234))
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
		b.write(name, name)
	}
	plan := b.remove("dir")
	if err := unix.Mount(b.abs("other"), b.abs("dir/sub/busy"), "", unix.MS_BIND, ""); err != nil {
		t.Logf("nothing can be mounted here (%v); TestARemovalThatFailsIsTold stands in for it", err)
		return
	}
	mounted := true
	unmount := func() {
		if mounted {
			mounted = unix.Unmount(b.abs("dir/sub/busy"), unix.MNT_DETACH) != nil
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
			b.write(file, file)
		}
		before := b.all()
		if err := setImmutable(b.abs(name), true); err != nil {
			t.Logf("nothing can be made immutable here (%v); TestARemovalThatFailsIsTold stands in for it", err)
			return
		}
		defer setImmutable(b.abs(name), false) //nolint:errcheck // the folder of the test stays, then
		err := b.make(b.remove("dir"))
		if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "dir/sub") {
			t.Errorf("%s: removed with %v", name, err)
		}
		b.wantAll(before)
		must(t, setImmutable(b.abs(name), false))
		b.must(b.make(b.remove("dir")))
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
