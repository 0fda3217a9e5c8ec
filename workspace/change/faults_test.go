package change

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// faulty is a bench whose system calls fail as a test says.
type faulty struct {
	trees
	called []string
	before string
}

// newFaulty has something of everything that a set can do.
func newFaulty(t *testing.T, dir string) *faulty {
	b := &faulty{trees: trees{newBenchIn(t, dir)}}
	for name, text := range map[string]string{
		"edited": "text of old", "gone/a": "text of a", "gone/sub/b": "text of b", "moved": "text moved", "over": "text replaced", "blob": "\x00 of old", "swapped": "text swapped out",
	} {
		b.Write(name, text)
	}
	b.before = b.all()
	b.calls.Pause = time.Microsecond
	return b
}

func (b *faulty) set() Set {
	made := b.plan("new/made", "text made")
	made.Executable = true
	return Set{
		Files: []File{b.plan("edited", "text of new"), made, b.planBytes("blob", "\x00\xff of new")},
		Tree:  []TreeChange{b.mode("edited", true), b.mode("moved", true), b.remove("gone"), b.move("moved", "over"), b.mkdir("x/y"), b.remove("swapped")},
		Restores: []Restore{
			{Path: b.entry("swapped"), State: journal.State{Type: journal.TypeFile, Data: []byte("text swapped in"), Mode: 0o666}},
		},
	}
}

const afterAll = "blob=\x00\xff of new edited*=NEW new/ new/made*=text made over*=text moved swapped=text swapped in x/ x/y/"

func (b *faulty) commitFailing(fails func(n int, call string) error) error {
	set := b.set()
	b.called = nil
	b.calls.Fails = func(call string) error {
		b.called = append(b.called, call)
		return fails(len(b.called), call)
	}
	defer func() { b.calls.Fails = nil }()
	return b.commitSet(set)
}

func (b *faulty) isMade() bool {
	return strings.ReplaceAll(b.all(), "text of new", "NEW") == afterAll
}

// places are the calls that were made, by their index: all, or the first and last of each
// kind, and all that give something its name.
func (b *faulty) places(all bool) (out []int) {
	for i, call := range b.called {
		if all || call == "rename" || !slices.Contains(b.called[:i], call) || !slices.Contains(b.called[i+1:], call) {
			out = append(out, i)
		}
	}
	return out
}

// everyCall runs a commit for each of its system calls, or for the first and last of each kind, which
// fails from that one on as often as said.
func everyCall(t *testing.T, fails error, everywhere bool, times int, check func(b *faulty, call string, err error)) {
	t.Helper()
	counted := newFaulty(t, t.TempDir())
	if err := counted.commitFailing(func(int, string) error { return nil }); err != nil || !counted.isMade() {
		t.Fatalf("%v: %s", err, counted.all())
	}
	if len(counted.called) < 30 {
		t.Fatalf("only %d calls can fail: %q", len(counted.called), counted.called)
	}
	for _, i := range counted.places(everywhere) {
		call := counted.called[i]
		if fails == handle.ErrShort && call != "write" || call == "remove" && (times == forGood || !handle.IsTransient(fails)) {
			continue // of removals see TestARemovalThatFailsIsTold
		}
		b := newFaulty(t, t.TempDir())
		failed := 0
		err := b.commitFailing(func(n int, now string) error {
			if n <= i || now != call || failed >= times {
				return nil
			}
			failed++
			return fails
		})
		check(b, fmt.Sprintf("%v at call %d, %s", fails, i+1, call), err)
	}
}

const forGood = 1 << 30

// each runs at the same time: most of it is waiting for the disk. The first fault comes
// everywhere, and so do the others in the long run.
func each(t *testing.T, faults []error, run func(t *testing.T, fails error, everywhere bool)) {
	for i, fails := range faults {
		t.Run(fails.Error(), func(t *testing.T) {
			t.Parallel()
			run(t, fails, i == 0 || machine.Cases(0, 1) == 1)
		})
	}
}

// TestASystemWithFewCalls makes a set, and takes one back, without entering folders in one
// step and without exchanging names.
func TestASystemWithFewCalls(t *testing.T) {
	b := newFaulty(t, t.TempDir())
	without := func(_ int, call string) error {
		if call == "open folder" || call == "rename" {
			return errors.ErrUnsupported
		}
		return nil
	}
	if err := b.commitFailing(without); err != nil || !b.isMade() {
		t.Errorf("%v: %s", err, b.all())
	}
	b = newFaulty(t, t.TempDir())
	looks := 0
	err := b.commitFailing(func(n int, call string) error {
		if call == "look" {
			looks++
		}
		if call == "mkdir" && looks > 5 { // the last of the set
			return syscall.EIO
		}
		return without(n, call)
	})
	if fault.CodeOf(err) != fault.ExecutionFailed {
		t.Errorf("made with %v", err)
	}
	b.wantAll(b.before)
}

// TestPassingFaultsAreTriedAgain: nobody hears of them.
func TestPassingFaultsAreTriedAgain(t *testing.T) {
	each(t, []error{syscall.EAGAIN, syscall.EINTR, syscall.EBUSY, handle.ErrShort}, func(t *testing.T, passing error, everywhere bool) {
		everyCall(t, passing, everywhere, 2, func(b *faulty, what string, err error) {
			if err != nil || !b.isMade() {
				b.Errorf("%s: %v: %s", what, err, b.all())
			}
		})
	})
}

// TestLastingFaultsAreReported: everything is as it was, and the error says why.
func TestLastingFaultsAreReported(t *testing.T) {
	each(t, []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EROFS}, func(t *testing.T, lasting error, everywhere bool) {
		everyCall(t, lasting, everywhere, 1, func(b *faulty, what string, err error) {
			if fault.CodeOf(err) != fault.ExecutionFailed && fault.CodeOf(err) != fault.PermissionDenied || errors.Is(err, ErrMoved) {
				b.Errorf("%s: reported as %v", what, err)
			}
			b.wantAll(b.before)
		})
	})
}

// TestFaultsForGood has everything fail that is tried from then on to set it right, too: what
// cannot be put back is told, and no byte of what was there is lost.
func TestFaultsForGood(t *testing.T) {
	each(t, []error{syscall.EIO, syscall.EBUSY}, func(t *testing.T, lasting error, everywhere bool) {
		everyCall(t, lasting, everywhere, forGood, func(b *faulty, what string, err error) {
			if fault.CodeOf(err) != fault.ExecutionFailed || errors.Is(err, ErrMoved) {
				b.Errorf("%s: reported as %v", what, err)
			}
			b.wantNothingLost(what, err)
			now := b.all()
			if strings.Contains(err.Error(), "new/.pillion-") {
				now = strings.ReplaceAll(now, "new/ ", "") // what is left needs its folder
			}
			if now != b.before && !strings.HasSuffix(what, "rename") {
				b.Errorf("%s: %v: not as it was: %s", what, err, now)
			}
		})
	})
}

// wantNothingLost: the former text of everything is there, under whatever name.
func (b *faulty) wantNothingLost(what string, told error) {
	b.Helper()
	texts, left := map[string]bool{}, []string{}
	err := filepath.WalkDir(b.Dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(name)
			texts[string(data)] = true
		}
		if strings.HasPrefix(d.Name(), ".pillion-") {
			left = append(left, name)
		}
		return err
	})
	b.Must(err)
	for _, name := range left {
		if !strings.Contains(told.Error(), filepath.Base(name)) {
			b.Errorf("%s: nobody is told of %s: %v", what, filepath.Base(name), told)
		}
		b.Must(os.RemoveAll(name))
	}
	for _, text := range []string{"text of old", "\x00 of old", "text of a", "text of b", "text moved", "text replaced", "text swapped out"} {
		if !texts[text] {
			b.Errorf("%s: %q is lost; told was: %v", what, text[:min(20, len(text))], told)
		}
	}
}
