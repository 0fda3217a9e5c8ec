package change

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/journal"
)

// TestPipesHoldNoCommandUp: nobody opens them, and what stood there comes back.
func TestPipesHoldNoCommandUp(t *testing.T) {
	b := newObserved(t)
	b.Must(syscall.Mkfifo(b.Abs("before"), 0o600))
	b.Write("a.txt", "one\n")
	b.command("c", func() {
		b.Remove("a.txt")
		b.Must(syscall.Mkfifo(b.Abs("a.txt"), 0o600))
		b.Must(syscall.Mkfifo(b.Abs("new"), 0o600))
	})
	b.wantKept("c", "delete a.txt +0 -1")
	if r := b.revertCall("c"); len(r.Conflicts) != 1 {
		t.Errorf("with a pipe in its place it is %+v", r)
	}
	b.Remove("a.txt")
	b.revertCall("c")
	b.want("a.txt", "one\n")
}

// TestCopiesHaveNoName: nothing of them outlives this program, and nobody finds them.
func TestCopiesHaveNoName(t *testing.T) {
	b := newObserved(t)
	b.Write("a.txt", "one\n")
	b.command("c", func() { b.Write("a.txt", "two\n") })
	left, err := os.ReadDir(b.Journal.Store.Dir())
	b.Must(err)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "copies") {
			t.Errorf("there is %s", e.Name())
		}
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	b.Must(err)
	n := 0
	for _, name := range open {
		if to, _ := os.Readlink(name); strings.HasPrefix(to, filepath.Join(b.Journal.Store.Dir(), "copies")) { //nolint:errcheck // it is closed again
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d files of copies are open", n)
	}
}

// TestACommandWhoseSidecarIsKilled leaves what it did, whatever the journal has of it.
func TestACommandWhoseSidecarIsKilled(t *testing.T) {
	b := newObserved(t)
	b.Write("a.txt", "one\n")
	b.Write("b.txt", "one\n")
	b.command("c", func() {
		b.Write("a.txt", "two\n")
		b.Write("b.txt", "two\n")
	})
	b.Write("b.txt", "three\n") // so that it looks like a change of which a part is made
	segments, err := filepath.Glob(filepath.Join(b.Journal.Store.Dir(), "*.seg"))
	b.Must(err)
	life, err := filepath.Glob(filepath.Join(b.Journal.Store.Dir(), "*.live"))
	b.Must(err)
	whole, err := os.ReadFile(segments[0])
	b.Must(err)
	for cut := len(whole); cut > 0; cut -= machine.Cases(61, 7) {
		dir := filepath.Join(t.TempDir(), "journal")
		b.Must(os.Mkdir(dir, 0o700))
		b.Must(os.WriteFile(filepath.Join(dir, filepath.Base(segments[0])), whole[:cut], 0o600))
		b.Must(os.WriteFile(filepath.Join(dir, filepath.Base(life[0])), nil, 0o600)) // which nobody has locked
		store, err := journal.Open(dir, journal.Options{})
		b.Must(err)
		next := &Committer{Documents: b.Documents, Journal: &Journal{Store: store}}
		if told := next.Recover(t.Context()); len(told) > 0 {
			t.Fatalf("of %d bytes of the journal it makes %q", cut, told)
		}
		b.Must(store.Close())
	}
	b.want("a.txt", "two\n")
	b.want("b.txt", "three\n")
}

// TestACommandThatClosesAFolder: what cannot be seen any more is not taken to be gone.
func TestACommandThatClosesAFolder(t *testing.T) {
	if asUser(t, t.Name()); !bound() {
		return
	}
	b := newObserved(t)
	b.Write("dir/a.txt", "one\n")
	defer os.Chmod(b.Abs("dir"), 0o755) //nolint:errcheck // the test has ended
	unkept := b.command("c", func() { b.Must(os.Chmod(b.Abs("dir"), 0)) })
	if !strings.Contains(unkept, "dir/a.txt (it cannot be seen)") {
		t.Errorf("it says %q", unkept)
	}
	b.wantKept("c")
}
