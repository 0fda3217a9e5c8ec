package change

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
)

func (b *bench) lock(name string) (unlock func()) {
	b.Helper()
	unlock, err := b.Locks.lock(context.Background(), []workspace.Path{b.path(name)})
	b.Must(err)
	return unlock
}

// TestWhoChangesOnePathWaits for the other who does: for the file itself, for one in a
// folder that goes, and for a folder in which a file is changed.
func TestWhoChangesOnePathWaits(t *testing.T) {
	for name, locked := range map[string]string{"the file": "dir/sub/file", "a folder above": "dir"} {
		t.Run(name, func(t *testing.T) {
			b := newTrees(t)
			b.Write("dir/sub/file", "one")
			unlock := b.lock(locked)
			done := make(chan error, 1)
			f := b.plan("dir/sub/file", "two")
			go func() { _, err := b.commit(f); done <- err }()
			b.waitForWaiter()
			b.want("dir/sub/file", "one")
			unlock()
			b.Must(<-done)

			unlock = b.lock("dir/sub/file")
			c := b.remove("dir")
			go func() { done <- b.make(c) }()
			b.waitForWaiter()
			b.want("dir/sub/file", "two")
			unlock()
			b.Must(<-done)
		})
	}
}

// waitForWaiter returns when somebody waits for a lock.
func (b *bench) waitForWaiter() {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for i := range b.Locks.stripes {
			s := &b.Locks.stripes[i]
			s.mu.Lock()
			waits := s.freed != nil
			s.mu.Unlock()
			if waits {
				return
			}
		}
	}
	b.Fatal("nobody waits")
}

// TestOthersInAFolderDoNotWait: its lock is shared.
func TestOthersInAFolderDoNotWait(t *testing.T) {
	b := newBench(t)
	for i := range 100 {
		one, name := fmt.Sprintf("dir/a%d", i), fmt.Sprintf("dir/b%d", i)
		first, other := wanted{}, wanted{}
		first.add(b.Abs(one))
		if !other.collides(b.Abs(name), first) {
			defer b.lock(one)()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			unlock, err := b.Locks.lock(ctx, []workspace.Path{b.path(name)})
			b.Must(err)
			unlock()
			return
		}
	}
	t.Fatal("they all share a lock by chance")
}

// collides adds a path, and says whether it has to wait for the others by chance.
func (w wanted) collides(abs string, others wanted) bool {
	w.add(abs)
	for s, alone := range w {
		if held, taken := others[s]; taken && (alone || held) {
			return true
		}
	}
	return false
}

// TestWhoGivesUpWaiting leaves nothing locked.
func TestWhoGivesUpWaiting(t *testing.T) {
	b := newBench(t)
	b.Locks.Dir = t.TempDir()
	unlock := b.lock("a")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := b.Locks.lock(ctx, []workspace.Path{b.path("b"), b.path("a")}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("a lock that somebody has: %v", err)
	}
	unlock()
	b.lock("a")()
	b.lock("b")()
}

const lockerVariable = "PILLION_TEST_LOCKS"

// TestALockOfAnotherProgram is waited for, and free as soon as that program is gone, in
// whatever manner it went.
func TestALockOfAnotherProgram(t *testing.T) {
	if dir := os.Getenv(lockerVariable); dir != "" {
		b := newBenchIn(t, os.Getenv(lockerVariable+"_IN"))
		b.Locks.Dir = dir
		defer b.lock("file")()
		os.Stdout.WriteString("locked\n")
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // until it is killed
		return
	}
	b := newBench(t)
	b.Locks.Dir = t.TempDir()
	b.Write("file", "one")
	f := b.plan("file", "two")
	other := exec.Command(os.Args[0], "-test.run", "^TestALockOfAnotherProgram$")
	other.Env = append(os.Environ(), lockerVariable+"="+b.Locks.Dir, lockerVariable+"_IN="+b.Dir)
	out, err := other.StdoutPipe()
	b.Must(err)
	_, err = other.StdinPipe() // held open
	b.Must(err)
	b.Must(other.Start())
	defer other.Wait() //nolint:errcheck // it is killed
	defer other.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.Locks.lock(ctx, []workspace.Path{f.Target}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("a lock that another program has: %v", err)
	}
	done := make(chan error, 1)
	go func() { _, err := b.commit(f); done <- err }()
	b.Must(other.Process.Kill())
	b.Must(<-done)
	b.want("file", "two")
}
