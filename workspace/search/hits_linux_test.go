package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/search"
)

// lineHits are the lines that ripgrep finds in the Go files below dir, as path:line.
func lineHits(t *testing.T, dir string, q search.Query) []string {
	t.Helper()
	args := []string{"--no-config", "--hidden", "--glob", "*.go", "--line-number", "--null", "--no-heading", "--color", "never"}
	if !q.Regex {
		args = append(args, "--fixed-strings")
	}
	if !q.CaseSensitive {
		args = append(args, "--ignore-case")
	}
	cmd := exec.Command("rg", append(args, "--regexp", q.Text)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("ripgrep %q: %v", q.Text, err)
	}
	var hits []string
	for line := range strings.Lines(string(out)) {
		if path, rest, ok := strings.Cut(line, "\x00"); ok {
			number, _, _ := strings.Cut(rest, ":")
			hits = append(hits, path+":"+number)
		}
	}
	slices.Sort(hits)
	return hits
}

// What is found in Go's own source is what ripgrep finds there: without an index, with one
// whose files are known, and with one whose files are looked at first.
func TestHitsInARealTreeAsRipgrep(t *testing.T) {
	needRipgrep(t)
	search.TrustStamps(t)
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	machine.Must(t, err)
	dir := filepath.Join(strings.TrimSpace(string(goRoot)), "src", "go")
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	machine.Must(t, err)
	defer w.Close()
	settled := errors.New("not every change is told")
	files := search.NewFiles(func(context.Context) error { return settled }, func() {})
	defer files.Close()
	files.Finding(w.Roots()[0])
	for _, state := range []string{"no index", "files to be looked at", "files that are known"} {
		if state != "no index" {
			files.IndexNow(&bytesOnDisk{}, w.Roots()...)
		}
		if state == "files that are known" {
			settled = nil
			files.IndexNow(&bytesOnDisk{}, w.Roots()...)
		}
		for _, q := range []search.Query{
			{Text: "func (p *parser) parse"},
			{Text: "FUNC (P *PARSER) PARSE"},
			{Text: "ParseExprFrom", CaseSensitive: true},
			{Text: "no such thing as this"},
			{Text: "世界"},
			{Text: "é"},
			{Text: "="},
			{Text: `\bunexported\b`, Regex: true, CaseSensitive: true},
			{Text: `(?m)^func [A-Z]\w+\(.*\) error \{$`, Regex: true, CaseSensitive: true},
			{Text: `^\s*return nil, (err|nil)$`, Regex: true},
			{Text: "TypeSpec|ValueSpec|ImportSpec|GenDecl", Regex: true, CaseSensitive: true},
			{Text: "typespec|valuespec|importspec|gendecl", Regex: true},
			{Text: `[a-z]+_[0-9]+`, Regex: true, CaseSensitive: true},
			{Text: `\pL{24,}`, Regex: true, CaseSensitive: true},
			{Text: `"[^"\\]*\\x[0-9a-f]{2}`, Regex: true},
			{Text: `^$`, Regex: true, CaseSensitive: true, Glob: "parser/*.go"},
		} {
			want := lineHits(t, dir, q)
			if q.Glob != "" {
				want = slices.DeleteFunc(want, func(hit string) bool { return !strings.HasPrefix(hit, "parser/") || strings.Count(hit, "/") > 1 })
			} else {
				q.Glob = "*.go"
			}
			q.MaxMatches, q.Files, q.IndexBytes = 10_000, files, search.IndexBytes
			r, err := search.Run(context.Background(), w.Roots(), q, &bytesOnDisk{})
			machine.Must(t, err)
			var got []string
			for _, m := range r.Matches {
				got = append(got, fmt.Sprintf("%s:%d", m.Path, m.Line))
			}
			slices.Sort(got)
			if r.Truncated { // more than are given; which, depends on the order
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %+v: %d hits, and ripgrep has %d: %v", state, q, len(got), len(want), difference(got, want))
			}
		}
	}
	if n, _ := files.IndexSize(); n == 0 {
		t.Error("nothing was indexed")
	}
}

// What is no file, too large, or gone by the time that it is read does no harm to a search
// or an index.
func TestAHostileTree(t *testing.T) {
	f := newForest(t)
	f.Write("a/good.txt", "the needle is here\n")
	f.Must(unix.Mkfifo(f.Abs("a/fifo"), 0o600))
	f.Must(os.Symlink("/dev/zero", f.Abs("a/endless")))
	f.Must(os.Symlink("nowhere", f.Abs("a/broken")))
	f.Must(os.WriteFile(f.Abs("a/huge"), []byte("the needle is here\n"), 0o644))
	f.Must(os.Truncate(f.Abs("a/huge"), 5<<30)) // of which nothing takes room
	f.Write("a/line", strings.Repeat("x", 900_000)+"the needle is here")
	for i := range 200 {
		f.Write(fmt.Sprintf("going/%d.txt", i), "the needle is here\n")
	}
	f.tree.Start()
	f.warm()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, indexed := range []bool{false, true} {
		if indexed {
			f.index()
		}
		// Each file that is read has another one vanish, or become a pipe that nobody writes to.
		var n atomic.Int64
		source := &meddling{change: func(workspace.Path) {
			name := f.Abs(fmt.Sprintf("going/%d.txt", n.Add(1)))
			if os.Remove(name) == nil && n.Load()%2 == 0 {
				_ = unix.Mkfifo(name, 0o600)
			}
		}}
		r, err := search.Run(context.Background(), []workspace.Path{f.root}, search.Query{Text: "the needle is", Files: f.Files, IndexBytes: search.IndexBytes}, source)
		f.Must(err)
		hits := 0
		for _, m := range r.Matches {
			if m.Path == "a/good.txt" || m.Path == "a/line" {
				hits++
			}
		}
		if hits != 2 || r.Skipped == 0 {
			t.Errorf("indexed %t: %d of 2 hits, %d skipped", indexed, hits, r.Skipped)
		}
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
		t.Errorf("it took %d MB of memory", took)
	}
	f.same("all that", search.Query{Text: "the needle is"})
}

// A tree that has too many files to be kept is searched by stamps, and one that has too
// many to be listed without an index: a million files are nothing that has to be held.
func TestATreeTooLargeToBeKept(t *testing.T) {
	search.TrustStamps(t)
	for _, listed := range []int{1000, 50} {
		t.Run(fmt.Sprint(listed), func(t *testing.T) { tooLargeToBeKept(t, listed) }) // what goes on in one ends with it
	}
}

func tooLargeToBeKept(t *testing.T, listed int) {
	search.ListAtMost(t, 50, listed)
	f := newForest(t)
	for i := range 100 {
		f.Write(fmt.Sprintf("d%d/f%d.txt", i%7, i), fmt.Sprintf("text of file%d.\n", i))
	}
	f.tree.Start()
	for round := range 10 {
		f.index()
		f.tick()
		f.Write("d1/f1.txt", fmt.Sprintf("text of round%d.\n", round))
		source := &bytesOnDisk{}
		got := f.found(f.Files, source, search.Query{Text: fmt.Sprintf("round%d.", round)})
		if !strings.Contains(got, `"count":1,"files_searched":100`) {
			t.Fatalf("at most %d, round %d: %s", listed, round, got)
		}
		if read := source.read.Load(); read != map[int]int64{1000: 1, 50: 100}[listed] {
			t.Errorf("at most %d, round %d: %d files were read", listed, round, read)
		}
	}
}

// Ten agents search at once while files change and the index is mended, and each finds what
// was there when it asked.
func TestTenSearchesAtOnce(t *testing.T) {
	f := newForest(t)
	for i := range 100 {
		f.Write(fmt.Sprintf("d%d/f%d.txt", i%7, i), fmt.Sprintf("text of file%d.\n", i))
	}
	f.tree.Start()
	f.warm()
	f.index()
	done := make(chan error)
	for i := range 10 {
		go func() {
			var err error
			for n := 0; n < 30 && err == nil; n++ {
				mark := fmt.Sprintf("mark %d of searcher %d.", n, i)
				if err = os.WriteFile(f.Abs(fmt.Sprintf("d%d/own%d.txt", i%7, i)), []byte(mark), 0o644); err != nil {
					break
				}
				q := search.Query{Text: mark, Files: f.Files, IndexBytes: search.IndexBytes}
				var r search.Result
				if r, err = search.Run(context.Background(), []workspace.Path{f.root}, q, &bytesOnDisk{}); err == nil && r.Count != 1 {
					err = fmt.Errorf("%s: %d hits", mark, r.Count)
				}
			}
			done <- err
		}()
	}
	for range 10 {
		f.Must(<-done)
	}
}
