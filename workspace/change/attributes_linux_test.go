package change

import (
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/handle"
)

func (b *bench) stat(name string) *syscall.Stat_t {
	b.Helper()
	info, err := os.Lstat(b.Abs(name))
	b.Must(err)
	return info.Sys().(*syscall.Stat_t)
}

func TestModeSurvives(t *testing.T) {
	for _, mode := range []fs.FileMode{0o644, 0o600, 0o755, 0o666, 0o400 | 0o200, 0o755 | fs.ModeSetuid, 0o775 | fs.ModeSetgid, 0o644 | fs.ModeSticky} {
		b := newBench(t)
		b.Write("a.txt", "one")
		b.Must(os.Chmod(b.Abs("a.txt"), mode))
		b.mustCommit(b.plan("a.txt", "two"))
		if info, err := os.Stat(b.Abs("a.txt")); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v (%v)", mode, info.Mode(), err)
		}
	}
}

func TestNewFilesHeedTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027)) // no test of this package runs beside this one
	b := newBench(t)
	b.mustCommit(b.plan("new/a.txt", "one"))
	if mode := b.stat("new/a.txt").Mode & 0o777; mode != 0o640 {
		t.Errorf("the file has mode %o", mode)
	}
	if mode := b.stat("new").Mode & 0o777; mode != 0o750 {
		t.Errorf("the folder has mode %o", mode)
	}
}

// TestSecretsStayClosed: not even the file that is still being written is open to
// others than the one that it replaces.
func TestSecretsStayClosed(t *testing.T) {
	b := newBench(t)
	b.Write("secret", "one")
	b.Must(os.Chmod(b.Abs("secret"), 0o600))
	step := &diskStep{file: b.plan("secret", "two"), committer: b.Committer, named: workspace.NewTemp()}
	defer step.discard(&remains{})
	b.Must(step.stage())
	if mode := b.stat(step.temp).Mode & 0o777; mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
}

func TestExtendedAttributesSurvive(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one")
	all := map[string]string{"user.note": "kept", "user.empty": "", "user.large": strings.Repeat("x", 2000)}
	for _, first := range []string{"a", "b", "c"} { // more names than there is room for at first
		all["user."+first+strings.Repeat("n", 200)] = first
	}
	for name, value := range all {
		if err := unix.Setxattr(b.Abs("a.txt"), name, []byte(value), 0); err != nil {
			t.Fatalf("the file system of the tests has no extended attributes: %v", err)
		}
	}
	b.mustCommit(b.plan("a.txt", "two"))
	for name, want := range all {
		value := make([]byte, 4096)
		if n, err := unix.Getxattr(b.Abs("a.txt"), name, value); err != nil || string(value[:n]) != want {
			t.Errorf("%s is %q, %v", name, value[:max(n, 0)], err)
		}
	}
}

// TestFolderGivesNoRights: a folder's default access list is for new files, and
// the one that replaces an old file is none.
func TestFolderGivesNoRights(t *testing.T) {
	b := newBench(t)
	b.Write("dir/a.txt", "one")
	b.Must(os.Chmod(b.Abs("dir/a.txt"), 0o600))
	// user:65534:rw- beside what the mode says
	list := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\xfe\xff\x00\x00" +
		"\x04\x00\x00\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(b.Abs("dir"), "system.posix_acl_default", []byte(list), 0); err != nil {
		t.Fatalf("the file system of the tests has no access lists: %v", err)
	}
	b.mustCommit(b.plan("dir/a.txt", "two"))
	if n, err := unix.Getxattr(b.Abs("dir/a.txt"), "system.posix_acl_access", make([]byte, 256)); err == nil {
		t.Errorf("it has an access list of %d bytes now", n)
	}
	if mode := b.stat("dir/a.txt").Mode & 0o777; mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
}

func TestOwnerSurvives(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("only root can give files away: the owner is tested where the tests run as root")
		return
	}
	b := newBench(t)
	b.Write("a.txt", "one")
	b.Must(os.Chown(b.Abs("a.txt"), 1234, 2345))
	b.Must(os.Chmod(b.Abs("a.txt"), 0o755|fs.ModeSetuid))
	b.mustCommit(b.plan("a.txt", "two"))
	if st := b.stat("a.txt"); st.Uid != 1234 || st.Gid != 2345 || st.Mode&0o7777 != 0o4755 {
		t.Errorf("%d:%d %o", st.Uid, st.Gid, st.Mode)
	}
}

func TestSpecialFiles(t *testing.T) {
	for name, kind := range map[string]uint32{"a FIFO": unix.S_IFIFO, "a socket": unix.S_IFSOCK} {
		b := newBench(t)
		b.Write("a.txt", "one")
		f := b.plan("a.txt", "two")
		b.Remove("a.txt")
		b.Must(unix.Mknod(b.Abs("a.txt"), kind|0o644, 0))
		before := b.stat("a.txt").Ino
		b.wantMoved(f)
		if b.stat("a.txt").Ino != before {
			t.Errorf("%s was replaced", name)
		}
	}
}

// asUser runs the named test again as a user whom permissions bind, and as whom
// the system can be asked for less.
func asUser(t *testing.T, name string) {
	t.Helper()
	if os.Getenv("PILLION_TEST_AS_USER") != "" || os.Getuid() != 0 {
		return
	}
	dir := t.TempDir()
	command := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
	command.Env = append(os.Environ(), "PILLION_TEST_AS_USER=1", "TMPDIR="+dir)
	command.Dir = dir
	machine.Must(t, machine.RunAs(command, 1234, dir))
	// A user must be able to come to the folder of the tests, and to this binary.
	for up := dir; up != "/" && up != os.TempDir(); up = up[:max(1, strings.LastIndex(up, "/"))] {
		machine.Must(t, os.Chmod(up, 0o755))
	}
	binary := dir + "/tests"
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(binary, data, 0o755)
	}
	machine.Must(t, err)
	command.Path, command.Args[0] = binary, binary
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: "+name) {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

func bound() bool { return os.Getuid() != 0 }

func TestReadOnlyFileAndFolder(t *testing.T) {
	if asUser(t, t.Name()); !bound() {
		return
	}
	b := newBench(t)
	b.Write("a.txt", "one")
	b.Must(os.Chmod(b.Abs("a.txt"), 0o444))
	f := b.plan("a.txt", "two")
	if !f.Before.ReadOnly {
		t.Error("nobody would be asked about a read-only file")
	}
	b.mustCommit(f)
	b.want("a.txt", "two")
	if info, err := os.Stat(b.Abs("a.txt")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("it does not stay read-only: %v, %v", info.Mode(), err)
	}
	b.Write("late.txt", "one")
	f = b.plan("late.txt", "two")
	b.Must(os.Chmod(b.Abs("late.txt"), 0o444))
	b.wantMoved(f)
	b.want("late.txt", "one")

	b.Write("dir/b.txt", "one")
	b.Must(os.Chmod(b.Abs("dir"), 0o555))
	b.wantFault(fault.PermissionDenied, b.plan("dir/b.txt", "two"))
	b.wantFault(fault.PermissionDenied, b.plan("dir/new.txt", "two"))
	b.wantFault(fault.PermissionDenied, b.plan("dir/new/c.txt", "two"))
	b.want("dir/b.txt", "one")
	b.Must(os.Chmod(b.Abs("dir"), 0o755)) // it is to be removed
}

// TestNoSpace has the system refuse more than a few bytes of any file.
func TestNoSpace(t *testing.T) {
	if asUser(t, t.Name()); !bound() {
		return
	}
	b := newBench(t)
	b.Write("a.txt", "one")
	f, g := b.plan("a.txt", strings.Repeat("two\n", 5000)), b.plan("new/b.txt", strings.Repeat("x", 20000))
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	b.Must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	b.Must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: old.Max}))
	err := b.wantFault(fault.ExecutionFailed, f)
	b.wantFault(fault.ExecutionFailed, g)
	b.Must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	if !strings.Contains(err.Error(), "file too large") || !strings.Contains(err.Error(), "unchanged") {
		t.Errorf("%v", err)
	}
	b.want("a.txt", "one")
	b.want("new", "<absent>")
}

// TestFileOfAnotherUser that the group may write: the group stays, the owner
// cannot, and no right goes to anybody who did not have it.
func TestFileOfAnotherUser(t *testing.T) {
	if bound() {
		return // made ready by root, below
	}
	b := newBench(t)
	b.Write("a.txt", "one")
	b.Must(os.Chown(b.Abs("a.txt"), 4321, 4321))
	b.Must(os.Chmod(b.Abs("a.txt"), 0o660|fs.ModeSetuid|fs.ModeSetgid))
	f, err := os.CreateTemp(b.Dir, "new")
	b.Must(err)
	defer f.Close()
	info, err := os.Stat(b.Abs("a.txt"))
	b.Must(err)
	// As somebody who may not give files away: chown of a closed handle fails alike.
	closed, err := os.Open(f.Name())
	b.Must(err)
	closed.Close()
	if mode := handle.KeepOwner(info, closed); mode != 0o600 {
		t.Errorf("without owner and group it would have mode %v", mode)
	}
	if mode := handle.KeepOwner(info, f); mode != info.Mode() {
		t.Errorf("with both it would have mode %v", mode)
	}
}

func TestFullFileSystem(t *testing.T) {
	if bound() {
		t.Log("only root can mount a small file system; the limit on file sizes stands in for it")
		return
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Logf("no file system can be mounted here (%v); the limit on file sizes stands in for it", err)
		return
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) }) //nolint:errcheck // it is the test's own
	b := newBenchIn(t, dir)
	b.Write("a.txt", strings.Repeat("one\n", 8000))
	b.wantFault(fault.ExecutionFailed, b.plan("a.txt", strings.Repeat("two\n", 12000)))
	b.want("a.txt", strings.Repeat("one\n", 8000))
	b.mustCommit(b.plan("a.txt", "small\n"))
	b.want("a.txt", "small\n")
}
