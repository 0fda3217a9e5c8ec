package change

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/journal"
)

// dying is set for the program that kills itself at a system call.
const dying = "PILLION_TEST_DYING"

// TestCommitAndDie is that program; by itself it does nothing.
func TestCommitAndDie(t *testing.T) {
	dir, rest, _ := strings.Cut(os.Getenv(dying), "|")
	kept, at, _ := strings.Cut(rest, "|")
	if dir == "" {
		return
	}
	last, err := strconv.Atoi(at)
	must(t, err)
	c := committerIn(t, dir, kept)
	b := &faulty{trees: trees{&bench{c, t, dir, nil}}}
	err = b.commitFailing(func(n int, _ string) error {
		if n == last {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			t.Fatalf("it lives on: %v", err)
		}
		return nil
	})
	fmt.Printf("made with %v in %d calls\n", err, len(b.called))
}

// TestKilledAtEachSystemCall, or at the first and last of each kind: a set that writes, makes, deletes, and moves over something is
// as if it had never been, or made, wherever it was cut off.
func TestKilledAtEachSystemCall(t *testing.T) {
	counted := newFaulty(t, t.TempDir())
	counted.must(counted.commitFailing(func(int, string) error { return nil }))
	places := counted.places(machine.Cases(0, 1) == 1)
	var running sync.WaitGroup
	turn := make(chan struct{}, 4)
	var mu sync.Mutex // guards made and undone
	made, undone := 0, 0
	for _, i := range places {
		running.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			wasMade := killedAt(t, i+1)
			mu.Lock()
			defer mu.Unlock()
			if wasMade {
				made++
			} else {
				undone++
			}
		})
	}
	running.Wait()
	if undone < len(places)/2 {
		t.Errorf("%d of %d kills left the set made, %d did not: the test shows nothing", made, len(places), undone)
	}
}

func killedAt(t *testing.T, n int) (made bool) {
	dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "journal")
	b := newFaulty(t, dir)
	b.Journal = committerIn(t, dir, kept).Journal
	child := exec.Command(os.Args[0], "-test.run=^TestCommitAndDie$")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", dying, dir, kept, n))
	if out, err := child.CombinedOutput(); err == nil {
		t.Errorf("at call %d it was not killed: %s", n, out)
	}
	told := b.Recover(context.Background())
	if made = b.isMade(); !made && b.all() != b.before {
		t.Errorf("killed at call %d: half of it is made; told %q:\n%s", n, told, b.all())
	}
	if again := b.Recover(context.Background()); len(again) > 0 {
		t.Errorf("killed at call %d: told again: %q", n, again)
	}
	entries, err := b.Journal.Store.Entries(journal.Query{})
	if err != nil || len(entries) > 0 && entries[len(entries)-1].State == journal.StatePending {
		t.Errorf("killed at call %d: %+v, %v", n, entries, err)
	}
	return made
}
