package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// swapped is a workspace in which somebody exchanges a folder for a symbolic link that
// leads out, to a canary, all the time.
type swapped struct {
	trees
	canary string
	is     string // what the canary is to be for ever
	stop   func()
}

func newSwapped(t *testing.T) *swapped {
	s := &swapped{trees: newTrees(t), canary: t.TempDir()}
	for _, dir := range []string{s.Abs("sub"), s.canary} {
		for name, text := range map[string]string{"written": "w", "gone": "g", "moved": "m", "dir/in": "d"} {
			machine.Folder{TB: t, Dir: dir}.Write(name, text)
		}
	}
	s.is = contentsOf(t, s.canary)
	s.Must(os.Symlink(s.canary, s.Abs("link")))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, s.Abs("sub"), unix.AT_FDCWD, s.Abs("link"), unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("swapping: %v", err)
				return
			}
		}
	})
	s.stop = sync.OnceFunc(func() { close(stop); swapping.Wait() })
	t.Cleanup(s.stop)
	return s
}

// naively does what programs do that check a name and then use it.
func (s *swapped) naively(name string, do func(abs string) error) error {
	real, err := filepath.EvalSymlinks(filepath.Dir(s.Abs(name)))
	if err != nil || !strings.HasPrefix(real, s.Dir) {
		return errors.New("outside")
	}
	return do(s.Abs(name))
}

// TestTheSwapWorksAgainstTheNaive: who checks the way and then goes it is led out.
func TestTheSwapWorksAgainstTheNaive(t *testing.T) {
	for name, do := range map[string]func(abs string) error{
		"write":  func(abs string) error { return os.WriteFile(abs+"/written", []byte("agent"), 0o644) },
		"delete": func(abs string) error { return os.Remove(abs + "/gone") },
		"tree":   func(abs string) error { return os.RemoveAll(abs + "/dir") },
		"move":   func(abs string) error { return os.Rename(abs+"/moved", abs+"/elsewhere") },
		"mkdir":  func(abs string) error { return os.MkdirAll(abs+"/made", 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSwapped(t)
			for contentsOf(t, s.canary) == s.is { // until it is led out
				s.naively("sub/x", func(abs string) error { return do(filepath.Dir(abs)) }) //nolint:errcheck // it fails where somebody was first
			}
		})
	}
}

// TestNothingIsLedOut makes the same changes while the same is done, in the long run thousands of times,
// also in the way of systems that do not have all the calls of this one.
func TestNothingIsLedOut(t *testing.T) {
	t.Run("with all calls", func(t *testing.T) { newSwapped(t).race(4 * rounds()) })
	t.Run("with few", func(t *testing.T) {
		s := newSwapped(t)
		s.calls.Fails = unsupported
		s.race(2 * rounds())
	})
}

// unsupported is a system that cannot enter a folder in one step, nor exchange names.
func unsupported(call string) error {
	if call == "open folder" || call == "rename" {
		return errors.ErrUnsupported
	}
	return nil
}

func (s *swapped) race(rounds int) {
	t := s.TB
	made := map[Operation]int{}
	wanted := []Operation{Overwrite, Create, Delete, Move, CreateDirectory}
	missing := func() bool {
		return slices.ContainsFunc(wanted, func(op Operation) bool { return made[op] == 0 })
	}
	for i := 0; i < rounds || missing() && i < 10_000; i++ {
		for _, set := range s.sets(i) {
			if out, err := s.Commit(context.Background(), set, journal.Origin{}); err == nil {
				made[out[0].Operation]++
			}
		}
		if now := contentsOf(s.TB, s.canary); now != s.is {
			t.Fatalf("round %d changed what is outside:\n%s", i, now)
		}
	}
	s.stop()
	if missing() {
		t.Errorf("some were never made: the test shows nothing; made were %v", made)
	}
}

// sets are the changes that can be planned at this moment.
func (s *swapped) sets(i int) (out []Set) {
	snap := s.Documents.Snapshot(limit)
	tree := func(c TreeChange, err error) {
		if err == nil {
			out = append(out, Set{Tree: []TreeChange{c}})
		}
	}
	at := func(name string) workspace.Path {
		p, err := s.Documents.Workspace().ResolveEntry(name)
		if err != nil {
			return s.Documents.Workspace().Roots()[0] // which nobody can delete or move
		}
		return p
	}
	for _, name := range []string{"sub/written", "sub/new" + string(rune('a'+i%26)) + "/file"} {
		if _, err := s.Documents.Workspace().Resolve(name); err != nil {
			continue
		}
		before, err := snap.ReadIfExists(at(name), "")
		if err != nil {
			continue
		}
		if f, err := New(before, document.Content{Text: strings.Repeat("agent\n", i%7+1), Encoding: document.UTF8}); err == nil {
			f.CreateDirs = true
			out = append(out, Set{Files: []File{f}})
		}
	}
	back := [2]string{"sub/moved", "sub/dir/moved"}
	tree(NewMove(snap, at(back[i%2]), at(back[1-i%2]), false))
	tree(NewMove(snap, at(back[1-i%2]), at(back[i%2]), false))
	tree(NewDelete(snap, at("sub/new"+string(rune('a'+(i+13)%26))), true))
	tree(NewDirectory(snap, at("sub/made"+string(rune('a'+i%26)))))
	tree(NewDelete(snap, at("sub/made"+string(rune('a'+(i+13)%26))), true))
	return out
}
