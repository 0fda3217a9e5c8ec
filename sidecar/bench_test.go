package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/check"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// reader is an agent's session in a sidecar on the folder.
func reader(b *testing.B, dir string) (*Sidecar, *session.Session) {
	b.Helper()
	c, err := ForPerson(dir, &terminal.Yes{})
	check.Must(b, err)
	b.Cleanup(func() { c.Close() })
	c.Sessions.SetDefaults("default", session.Limits{})
	s, _, err := c.Sessions.Open("", session.Agent{Name: "bench"}, "")
	check.Must(b, err)
	return c, s
}

// BenchmarkReadFile is the door's own cost, without a wire.
func BenchmarkReadFile(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			text := strings.Repeat("a line of text that is as long as lines are\n", size/44+1)[:size]
			check.Must(b, os.WriteFile(filepath.Join(dir, "file.txt"), []byte(text), 0o644))
			c, reader := reader(b, dir)
			b.ReportAllocs()
			for b.Loop() {
				r := c.Registry.Execute(b.Context(), tools.Call{Name: "read_file", Arguments: json.RawMessage(`{"path":"file.txt"}`), Session: reader})
				if r.IsError {
					b.Fatal(r.Err)
				}
				n := 0
				for _, piece := range r.Pieces() {
					n += len(piece)
				}
				if n < size {
					b.Fatalf("%d bytes", n)
				}
			}
		})
	}
}

// BenchmarkReadFileLate is the read of an agent that has read a thousand files
// before: it is told of each that somebody else changed.
func BenchmarkReadFileLate(b *testing.B) {
	dir := b.TempDir()
	c, reader := reader(b, dir)
	read := func(name string) {
		arguments := json.RawMessage(`{"path":"` + name + `"}`)
		if r := c.Registry.Execute(b.Context(), tools.Call{Name: "read_file", Arguments: arguments, Session: reader}); r.IsError {
			b.Fatal(r.Err)
		}
	}
	for i := range 1000 {
		name := fmt.Sprintf("file%d.txt", i)
		check.Must(b, os.WriteFile(filepath.Join(dir, name), []byte("text\n"), 0o644))
		read(name)
	}
	for b.Loop() {
		read("file0.txt")
	}
}

// BenchmarkEditFile is an edit of 100 KB with its journal, of which nothing waits for
// the disk.
func BenchmarkEditFile(b *testing.B) {
	b.Setenv("HOME", b.TempDir())
	b.Setenv("XDG_STATE_HOME", "")
	dir := b.TempDir()
	line := strings.Repeat("a line of text that is as long as lines are\n", 1100)
	check.Must(b, os.WriteFile(filepath.Join(dir, "file.txt"), []byte(line+"edited 0 times\n"+line), 0o644))
	c, agent := reader(b, dir)
	c.Registry.Committer.Journal.Configure(change.JournalRequire, true)
	c.Registry.Committer.Journal.Store.Configure(journal.Options{NoSync: true})
	check.Must(b, agent.SetMode("auto_edit"))
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		args := fmt.Sprintf(`{"path":"file.txt","old_string":"edited %d times","new_string":"edited %d times"}`, i, i+1)
		r := c.Registry.Execute(b.Context(), tools.Call{Name: "edit_file", Arguments: json.RawMessage(args), Session: agent})
		if r.IsError {
			b.Fatal(r.Err)
		}
		i++
	}
}

// BenchmarkObserve is what it adds to a command that its changes are kept: of one that
// changes nothing in a folder with 1,800 files, of one that changes a file, and of one in a
// folder with too many, where nobody has listed them before.
func BenchmarkObserve(b *testing.B) {
	b.Setenv("HOME", b.TempDir())
	b.Setenv("XDG_STATE_HOME", "")
	for _, one := range []struct {
		name            string
		files           int
		watched, writes bool
		tracked         bool
	}{
		{"nothing", 1800, true, false, false},
		{"a file", 1800, true, true, false},
		{"unwatched", 1800, false, false, false},
		{"too many", 20_000, true, false, false},
		{"tracked, nothing", 20_000, true, false, true},
		{"tracked, a file", 20_000, true, true, true},
		{"tracked, unwatched", 20_000, false, true, true},
	} {
		b.Run(one.name, func(b *testing.B) {
			dir := b.TempDir()
			for i := range one.files {
				name := filepath.Join(dir, fmt.Sprintf("folder%d", i/50), fmt.Sprintf("file%d.txt", i))
				check.Must(b, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(strings.Repeat("text\n", 1000)), 0o644)))
			}
			if one.tracked {
				track(b, dir)
			}
			c, _ := reader(b, dir)
			if one.watched {
				c.Announce()
				for !c.tree.State().Ready {
					time.Sleep(10 * time.Millisecond)
				}
			}
			began := time.Now()
			for n := 0; b.Loop(); n++ {
				if n == 1 {
					b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-first")
				}
				observed := c.Registry.Committer.Observe(b.Context())
				if one.writes {
					check.Must(b, os.WriteFile(filepath.Join(dir, "folder3", "file160.txt"), []byte(fmt.Sprint(n)), 0o644))
				}
				observed.End(b.Context(), journal.Origin{CallID: "c"})
			}
		})
	}
}

// track adds all files to a repository, whose index vouches for them.
func track(b *testing.B, dir string) {
	run := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	run("add", "-A")
	run("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "all")
	run("gc", "-q")
	old := time.Now().Add(-time.Hour) // the index is to be younger than they
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.Contains(name, ".git") {
			err = os.Chtimes(name, old, old)
		}
		return err
	})
	check.Must(b, err)
	run("update-index", "--refresh")
}
