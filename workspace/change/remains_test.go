package change

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/journal"
)

// checkRemains: what was to go and stands there is named in the error, and nothing else is.
// Temporary files are named, or gone after the next start.
func (b *faulty) checkRemains(what string, err error) {
	b.Helper()
	want := map[string]bool{}
	for _, name := range []string{"gone/a", "gone/sub/b", "gone/sub", "gone"} {
		if _, err := os.Lstat(b.Abs(name)); err == nil && !want[name] {
			for up := filepath.Dir(name); up != "."; up = filepath.Dir(up) {
				want[up] = false
			}
			if _, inside := want[name]; !inside {
				want[name] = true
			}
		}
	}
	told := ""
	if err != nil {
		told = err.Error()
	}
	for name, stays := range want {
		if stays && !strings.Contains(told, name) {
			b.Errorf("%s: %s remains, and the error is %v", what, name, err)
		}
	}
	if len(want) == 0 && strings.Contains(told, "gone") {
		b.Errorf("%s: nothing remains, and the error is %v", what, err)
	}
}

// withoutTemps is all but the temporary files.
func (b *faulty) withoutTemps() string { return temporary.ReplaceAllString(b.all(), "") }

var temporary = regexp.MustCompile(`(?s)\.pillion-\w+\.tmp\*?=.*? of old ?`)

// restart has the sidecar end, and another one begin.
func (b *faulty) restart() (told []string) {
	b.Helper()
	b.Must(b.Journal.Store.Close())
	kept, err := journal.Open(b.Journal.Store.Dir(), journal.Options{})
	b.Must(err)
	b.Cleanup(func() { kept.Close() })
	b.Journal = &Journal{Store: kept}
	return b.Recover(context.Background())
}

// TestARemovalThatFailsIsTold: wherever it fails, the answer says exactly what remains, and no
// temporary file outlives the next start.
func TestARemovalThatFailsIsTold(t *testing.T) {
	each(t, []error{syscall.EIO, syscall.ENOSPC, syscall.EPERM, syscall.EACCES}, func(t *testing.T, lasting error, everywhere bool) {
		counted := newFaulty(t, t.TempDir())
		counted.Must(counted.commitFailing(func(int, string) error { return nil }))
		failures := 0
		for i, call := range counted.called {
			if !everywhere && failures > 3 {
				break
			}
			for _, times := range []int{1, forGood} {
				if call != "remove" {
					continue
				}
				failures++
				b := newFaulty(t, t.TempDir())
				var told []string
				b.Journal.Tell = func(problem string) { told = append(told, problem) }
				failed := 0
				err := b.commitFailing(func(n int, now string) error {
					if n <= i || now != "remove" || failed >= times {
						return nil
					}
					failed++
					return lasting
				})
				b.checkRemains(call, err)
				if err == nil && len(told) == 0 {
					t.Errorf("call %d: a removal failed, and nobody is told", i)
				}
				if err != nil && fault.CodeOf(err) != fault.ExecutionFailed {
					t.Errorf("call %d: %v", i, err)
				}
				stood := b.withoutTemps()
				b.restart()
				b.checkNothingIsLeft()
				if now := b.withoutTemps(); now != stood {
					t.Errorf("call %d: the next start made %s of %s", i, now, stood)
				}
				if again := b.restart(); len(again) > 0 {
					t.Errorf("call %d: told again: %q", i, again)
				}
			}
		}
		if everywhere && failures < 10 {
			t.Errorf("only %d removals can fail", failures)
		}
	})
}

// TestATemporaryFileThatStays is tried again at each start until it can be removed.
func TestATemporaryFileThatStays(t *testing.T) {
	counted, b := newFaulty(t, t.TempDir()), newFaulty(t, t.TempDir())
	counted.Must(counted.commitFailing(func(int, string) error { return nil }))
	b.Must(b.commitFailing(func(n int, call string) error {
		if n == len(counted.called) && call == "remove" { // the last: of a file that was replaced
			return syscall.EIO
		}
		return nil
	}))
	left := func() (n int) {
		names, _ := filepath.Glob(b.Abs(".pillion-*"))
		return len(names)
	}
	if left() == 0 {
		t.Fatal("nothing is left: the test shows nothing")
	}
	b.calls.Fails = func(call string) error {
		if call == "remove" {
			return syscall.EIO
		}
		return nil
	}
	if told := b.restart(); len(told) != 1 || !strings.Contains(told[0], ".pillion-") {
		t.Errorf("told %q", told)
	}
	b.calls.Fails = nil
	if told := b.restart(); len(told) > 0 || left() > 0 {
		t.Errorf("%d are left, told %q", left(), told)
	}
	if entries := b.entries(); entries[0].State != journal.StateDone {
		t.Errorf("%+v", entries)
	}
}
