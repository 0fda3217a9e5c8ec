package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBubblewrap(t *testing.T) {
	p := newPlace(t)
	if f := finding(t, p.examine(t), "system.bubblewrap"); f.Status != Info {
		t.Errorf("none: %+v", f)
	}
	const version = `[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }` + "\n"
	p.script(t, "bwrap", version+`for last; do :; done; [ "$last" = true ]`)
	if f := finding(t, p.examine(t), "system.bubblewrap"); f.Status != OK || f.Detail != "0.8.0, "+p.bin+"/bwrap; it can create a sandbox" || f.Data["works"] != true {
		t.Errorf("one that works: %+v", f)
	}
	p.script(t, "bwrap", version+`echo "bwrap: No permissions to create new namespace" >&2; exit 1`)
	f := finding(t, p.examine(t), "system.bubblewrap")
	if f.Status != Warning || !strings.HasSuffix(f.Detail, "; it cannot create a sandbox here: bwrap: No permissions to create new namespace") || f.Data["works"] != false {
		t.Errorf("one that may not: %+v", f)
	}
	p.script(t, "bwrap", version+"exit 1")
	if f := finding(t, p.examine(t), "system.bubblewrap"); !strings.HasSuffix(f.Detail, ": exit status 1") {
		t.Errorf("one that says nothing: %+v", f)
	}
}

func TestLandlock(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{0: "ABI 4", unix.EOPNOTSUPP: "but disabled", unix.ENOSYS: "not in this kernel", unix.EPERM: "could not be queried"} {
		f := landlockFinding(4, errno)
		if (f.Status == OK) != (errno == 0) || !strings.Contains(f.Detail, want) {
			t.Errorf("%v: %+v", errno, f)
		}
	}
	// On this machine: the kernel's own list of what is switched on says the same.
	f := landlock()
	modules, err := os.ReadFile("/sys/kernel/security/lsm")
	if err == nil && strings.Contains(string(modules), "landlock") != (f.Status == OK) {
		t.Errorf("got %+v, and the kernel lists %s", f, modules)
	}
	if abi, _ := f.Data["abi"].(int); f.Status == OK && abi < 1 {
		t.Errorf("got %+v", f)
	}
}

func TestUserNamespaceHint(t *testing.T) {
	proc := t.TempDir()
	if got := userNamespaceHint(proc); got != "a container may forbid them" {
		t.Errorf("got %q", got)
	}
	write(t, filepath.Join(proc, "sys/user/max_user_namespaces"), "100\n", 0o600)
	write(t, filepath.Join(proc, "sys/kernel/apparmor_restrict_unprivileged_userns"), "1\n", 0o600)
	if got := userNamespaceHint(proc); got != "sysctl kernel.apparmor_restrict_unprivileged_userns is 1" {
		t.Errorf("got %q", got)
	}
}

func TestWhyNot(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{unix.ENOSPC: "a limit forbids it", unix.EPERM: "operation not permitted"} {
		if got := whyNot(&os.PathError{Op: "fork/exec", Path: "/bin/true", Err: errno}); got != want {
			t.Errorf("%v: %q, want %q", errno, got, want)
		}
	}
}

func TestUserNamespaces(t *testing.T) {
	p := newPlace(t)
	if f := finding(t, p.examine(t), "system.userns"); f.Status != Info || !strings.Contains(f.Detail, "could not be tested") {
		t.Errorf("without a program: %+v", f)
	}
	trace := filepath.Join(p.home, "trace")
	p.script(t, "true", "echo done > "+trace)
	f := finding(t, p.examine(t), "system.userns")
	if _, err := os.Stat(trace); (err == nil) != (f.Data["works"] == true) {
		t.Errorf("what it says and what was run differ: %+v, %v", f, err)
	}
}

// On this machine: what this process does is seen.
func TestInotifyHere(t *testing.T) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	must(t, err)
	defer unix.Close(fd) //nolint:errcheck // the test is over
	for range 3 {
		if _, err := unix.InotifyAddWatch(fd, t.TempDir(), unix.IN_CREATE); err != nil {
			t.Fatal(err)
		}
	}
	own := inotifyUse{}
	own.add("/proc/self")
	if own.instances < 1 || own.watches < 3 {
		t.Errorf("this process has %+v", own)
	}
	for _, f := range inotify("/proc") {
		if limit, _ := f.Data["limit"].(int); limit < 1 || f.Data["used"] == 0 {
			t.Errorf("got %+v", f)
		}
	}
}

func TestInotifyBudget(t *testing.T) {
	proc := t.TempDir()
	if got := inotify(proc); len(got) != 1 || got[0].Status != Info {
		t.Errorf("without a budget: %+v", got)
	}
	write(t, filepath.Join(proc, "sys/fs/inotify/max_user_watches"), "10\n", 0o600)
	write(t, filepath.Join(proc, "sys/fs/inotify/max_user_instances"), "128\n", 0o600)
	for _, fd := range []string{"3", "4", "5"} {
		kind := map[string]string{"3": "anon_inode:inotify", "4": "anon_inode:inotify", "5": "/dev/null"}[fd]
		must(t, os.MkdirAll(filepath.Join(proc, "77", "fd"), 0o700))
		must(t, os.Symlink(kind, filepath.Join(proc, "77", "fd", fd)))
		write(t, filepath.Join(proc, "77", "fdinfo", fd), "pos:\t0\n"+strings.Repeat("inotify wd:1 ino:2\n", 4), 0o600)
	}
	got := inotify(proc)
	if len(got) != 2 || got[0].Status != Warning || got[0].Detail != "8 of 10 in use" || !strings.Contains(got[0].Hint, "fs.inotify.max_user_watches") {
		t.Errorf("got %+v", got)
	}
	if got[1].Status != OK || got[1].Detail != "2 of 128 in use" {
		t.Errorf("got %+v", got[1])
	}
}

func TestTheFolderIsWatched(t *testing.T) {
	p := newPlace(t)
	if f := finding(t, p.examine(t), "folder.watched"); f.Status != OK || f.Data["watched"] == 0 {
		t.Errorf("got %+v", f)
	}
}
