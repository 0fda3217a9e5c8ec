package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pillion/internal/testrig/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = check.Must

func call(i int) Record {
	return Record{Time: time.Now(), Session: "s", Agent: "claude", Via: "mcp", Call: fmt.Sprint("call", i), Tool: "read_file", Paths: []string{fmt.Sprintf("src/%d.go", i)}, Outcome: "done"}
}

// written is a log of some files, with n lines.
func written(t *testing.T, n int) (dir string) {
	dir = filepath.Join(t.TempDir(), "audit")
	for i := range n { // each from another program
		l := Open(dir, Options{FileBytes: 2500}, t.Logf)
		l.Append(call(i))
		must(t, l.Close())
	}
	return dir
}

func verified(t *testing.T, dir string, hashes ...string) Report {
	t.Helper()
	r, err := Verify(dir, hashes...)
	must(t, err)
	return r
}

func TestTheChainHoldsOverFilesAndPrograms(t *testing.T) {
	dir := written(t, 40)
	r := verified(t, dir)
	if len(r.Problems) > 0 || r.Lines != 40 || r.First != 1 || r.Last != 40 || r.Files < 4 {
		t.Errorf("got %+v", r)
	}
	var calls []string
	must(t, Read(dir, func(e Entry) bool { calls = append(calls, e.Call); return len(calls) < 12 }))
	if len(calls) != 12 || calls[0] != "call0" || calls[11] != "call11" {
		t.Errorf("read %v", calls)
	}
	for _, name := range append(names(t, dir), headFile, "lock") {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

func names(t *testing.T, dir string) []string {
	old, err := oldFiles(dir)
	must(t, err)
	return append(old, current)
}

// TestWhateverIsDoneToALineIsFound: to each line, each of these.
func TestWhateverIsDoneToALineIsFound(t *testing.T) {
	dir := written(t, 25)
	for _, name := range names(t, dir) {
		file := filepath.Join(dir, name)
		whole, err := os.ReadFile(file)
		must(t, err)
		lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
		lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
		for i := range lines {
			for what, do := range map[string]func([][]byte) [][]byte{
				"another agent": func(l [][]byte) [][]byte {
					l[i] = bytes.Replace(l[i], []byte("claude"), []byte("nobody"), 1)
					return l
				},
				"another number": func(l [][]byte) [][]byte {
					l[i] = bytes.Replace(l[i], []byte(`{"n":`), []byte(`{"n":1`), 1)
					return l
				},
				"no JSON":  func(l [][]byte) [][]byte { l[i] = []byte("x" + string(l[i])); return l },
				"a blank":  func(l [][]byte) [][]byte { l[i] = append([]byte(" "), l[i]...); return l },
				"removed":  func(l [][]byte) [][]byte { return slices.Delete(l, i, i+1) },
				"doubled":  func(l [][]byte) [][]byte { return slices.Insert(l, i, l[i]) },
				"cut off":  func(l [][]byte) [][]byte { return l[:i] },
				"cut into": func(l [][]byte) [][]byte { l[i] = l[i][:len(l[i])/2]; return l[:i+1] },
				"moved": func(l [][]byte) [][]byte {
					j := (i + 1) % len(l)
					l[i], l[j] = l[j], l[i]
					return l
				},
			} {
				if what == "moved" && len(lines) == 1 {
					continue
				}
				changed := do(slices.Clone(lines))
				must(t, os.WriteFile(file, bytes.Join(changed, nil), 0o600))
				if r := verified(t, dir); len(r.Problems) == 0 {
					t.Errorf("%s, line %d: %s is not found", name, i+1, what)
				}
			}
		}
		must(t, os.WriteFile(file, whole, 0o600))
	}
	if r := verified(t, dir); len(r.Problems) > 0 {
		t.Fatalf("as it was: %v", r.Problems)
	}
}

func TestMissingFilesAreFound(t *testing.T) {
	for i := range names(t, written(t, 25)) {
		dir := written(t, 25)
		must(t, os.Remove(filepath.Join(dir, names(t, dir)[i])))
		if r := verified(t, dir); len(r.Problems) == 0 {
			t.Errorf("file %d is not missed", i)
		}
	}
	dir := written(t, 5)
	must(t, os.Remove(filepath.Join(dir, headFile)))
	if r := verified(t, dir); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "head") {
		t.Errorf("without the head: %v", r.Problems)
	}
	// What was noted elsewhere is missed even when all was written anew.
	dir = written(t, 5)
	noted := verified(t, dir).Hash
	if r := verified(t, dir, noted); len(r.Problems) > 0 {
		t.Errorf("it is there: %v", r.Problems)
	}
	if r := verified(t, written(t, 5), noted); len(r.Problems) != 1 {
		t.Errorf("another log: %v", r.Problems)
	}
}

func TestTheOldestFilesGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := Open(dir, Options{FileBytes: 1000, Files: 3}, t.Logf)
	for i := range 50 {
		l.Append(call(i))
		if i%7 == 0 {
			l.Flush()
		}
	}
	must(t, l.Close())
	r := verified(t, dir)
	if n := len(names(t, dir)); n != 3 || len(r.Problems) > 0 || r.Last != 50 || r.First < 30 {
		t.Errorf("%d files, %+v", n, r)
	}
	must(t, os.Remove(filepath.Join(dir, names(t, dir)[0])))
	if r := verified(t, dir); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "at the beginning") {
		t.Errorf("the oldest was removed by hand: %v", r.Problems)
	}
}

func TestSeveralWriteAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	var all sync.WaitGroup
	for range 4 {
		l := Open(dir, Options{FileBytes: 5000, Files: 100}, t.Logf)
		for range 2 {
			all.Go(func() {
				for i := range 50 {
					l.Append(call(i))
					if i%10 == 9 {
						l.Flush()
					}
				}
			})
		}
		t.Cleanup(func() { must(t, l.Close()) })
	}
	all.Wait()
	if r := verified(t, dir); len(r.Problems) > 0 || r.Lines != 400 {
		t.Errorf("got %+v", r)
	}
}

// TestALineThatWasNotFinished, by a program that was killed, breaks nothing.
func TestALineThatWasNotFinished(t *testing.T) {
	dir := written(t, 3)
	f, err := os.OpenFile(filepath.Join(dir, current), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"n":4,"prev":"ab`)
	must(t, err, f.Close())
	l := Open(dir, Options{}, t.Logf)
	l.Append(call(9))
	must(t, l.Close())
	if r := verified(t, dir); len(r.Problems) > 0 || r.Torn != 1 || r.Last != 5 {
		t.Errorf("got %+v", r)
	}
}

// TestNobodyWaitsForTheLog: not while it is held by another, nor when too much
// comes; how much is missing is in the log.
func TestNobodyWaitsForTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := written(t, 1)
		unlock, err := lock(dir)
		must(t, err)
		var said []string
		l := Open(dir, Options{}, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		for i := range maxWaiting + 10 {
			l.Append(call(i))
		}
		time.Sleep(delay + lockTime) // it tries, in vain
		synctest.Wait()
		unlock()
		l.Append(call(0))
		l.Flush()
		must(t, l.Close())
		if r := verified(t, dir); r.Dropped != maxWaiting+10 || r.Lines != 3 || len(r.Problems) > 0 {
			t.Errorf("got %+v", r)
		}
		if len(said) != 1 || !strings.Contains(said[0], "another program has the audit log locked") {
			t.Errorf("said %q", said)
		}
		l.Append(call(0)) // after the end nothing happens
		var none *Log
		none.Append(call(0))
		none.Flush()
		must(t, none.Close())
	})
}

func TestNoLogIsNoProblem(t *testing.T) {
	if r := verified(t, filepath.Join(t.TempDir(), "nothing")); r.Lines != 0 || len(r.Problems) > 0 {
		t.Errorf("got %+v", r)
	}
}

func BenchmarkAppend(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "audit"), Options{}, b.Logf)
	r := call(1)
	for b.Loop() {
		l.Append(r)
	}
	must(b, l.Close())
}

func BenchmarkWrite(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "audit"), Options{}, b.Logf)
	r := call(1)
	n := 0
	for b.Loop() {
		l.Append(r)
		if n++; n%100 == 0 {
			l.Flush()
		}
	}
	must(b, l.Close())
}

// TestFollow: from a number on, over files that get full and programs that come and go.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := written(t, 20)
		ctx, stop := context.WithCancel(t.Context())
		seen, ended := make(chan Entry, 100), make(chan error, 1)
		go func() { ended <- Follow(ctx, dir, 17, func(e Entry) { seen <- e }) }()
		for n := int64(18); n <= 60; n++ {
			if n > 20 {
				l := Open(dir, Options{FileBytes: 2500}, t.Logf)
				l.Append(call(int(n)))
				must(t, l.Close())
			}
			select {
			case e := <-seen:
				if e.N != n {
					t.Fatalf("line %d, want %d", e.N, n)
				}
			case <-time.After(time.Minute):
				t.Fatalf("line %d does not come", n)
			}
		}
		stop()
		must(t, <-ended)
	})
}

// TestFollowBeforeThereIsALog: the first line comes as well.
func TestFollowBeforeThereIsALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "audit")
		ctx, stop := context.WithCancel(t.Context())
		seen, ended := make(chan Entry, 1), make(chan error, 1)
		go func() { ended <- Follow(ctx, dir, 0, func(e Entry) { seen <- e }) }()
		l := Open(dir, Options{}, t.Logf)
		l.Append(call(1))
		must(t, l.Close())
		select {
		case <-seen:
		case <-time.After(time.Minute):
			t.Error("it does not come")
		}
		stop()
		must(t, <-ended)
	})
}
