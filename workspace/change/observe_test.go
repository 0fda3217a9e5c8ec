package change

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/journal"
)

// newObserved is a workspace in which commands are observed. Nobody watches it.
func newObserved(t *testing.T) *bench {
	b := newBench(t)
	b.Observer = &Observer{
		List: func(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool) (*workspace.Contents, error) {
			return p.List(ctx, o, sizes, 1000)
		},
		Told: func(context.Context) (uint64, bool) { return 0, false },
	}
	return b
}

// command does what a command does, and gives what the journal does not have of it.
func (b *bench) command(call string, does func()) string {
	b.Helper()
	one := b.Observe(b.Context())
	does()
	return one.End(b.Context(), journal.Origin{CallID: call, SessionID: "s", Turn: 1, Tool: "run_command"})
}

// contentsOf is what is in a folder: names, modes and contents.
func contentsOf(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		fmt.Fprintf(&out, "%s %v ", strings.TrimPrefix(name, dir), info.Mode())
		switch {
		case err != nil || e.IsDir():
		case e.Type() == fs.ModeSymlink:
			var link string
			link, err = os.Readlink(name)
			out.WriteString(link)
		default:
			var data []byte
			data, err = os.ReadFile(name)
			fmt.Fprintf(&out, "%q", data)
		}
		out.WriteString("\n")
		return err
	})
	machine.Must(t, err)
	return out.String()
}

func (b *bench) all() string { return contentsOf(b.TB, b.Dir) }

// wantLike wants everything to be as it was.
func (b *bench) wantLike(was string) {
	b.Helper()
	if now := b.all(); now != was {
		b.Errorf("it is\n%s\nand was\n%s", now, was)
	}
}

// kept is a command of which the journal has all.
func (b *bench) kept(call string, does func()) {
	b.Helper()
	if unkept := b.command(call, does); unkept != "" {
		b.Errorf("not in the journal: %s", unkept)
	}
}

func (b *bench) wantKept(call string, paths ...string) {
	b.Helper()
	entries, err := b.History(Selection{CallID: call}, 0)
	b.Must(err)
	got := []string{}
	for _, e := range entries {
		for _, f := range e.Files {
			got = append(got, fmt.Sprintf("%s %s +%d -%d", f.Operation, f.Path, f.Additions, f.Deletions))
		}
	}
	if strings.Join(got, "\n") != strings.Join(paths, "\n") {
		b.Errorf("of %s the journal has\n%s\nwant\n%s", call, strings.Join(got, "\n"), strings.Join(paths, "\n"))
	}
}

func TestWhatACommandChangesIsReverted(t *testing.T) {
	b := newObserved(t)
	b.Write("text.txt", "one\ntwo\n")
	b.Write("binary", "\x00\x01\x02")
	b.Write("gone/deep/a.txt", "a\n")
	b.Write("gone/b.bin", "b\x00")
	b.Write("tool.sh", "#!/bin/sh\n")
	b.Write("turned", "a file\n")
	b.Write("untouched", "as it is\n")
	b.Link("text.txt", "link")
	before := b.all()
	b.kept("c", func() {
		b.Write("text.txt", "one\n2\nthree\n")
		b.Write("binary", "\x00\x03")
		b.Remove("gone")
		b.Must(os.Chmod(b.Abs("tool.sh"), 0o755))
		b.Remove("link")
		b.Link("untouched", "link")
		b.Remove("turned")
		b.Link("text.txt", "turned")
		b.Write("new/folder/c.txt", "c\n")
	})
	after := b.all()
	b.wantKept("c",
		"overwrite binary +0 -0", "delete gone/b.bin +0 -0", "delete gone/deep/a.txt +0 -1", "delete link +0 -0", "create link +0 -0",
		"create new/folder/c.txt +1 -0", "overwrite text.txt +2 -1", "change_mode tool.sh +0 -0", "delete turned +0 -0", "create turned +0 -0")
	b.wantCallReverted("c")
	b.wantLike(before)
	b.wantCallReverted("revert of c")
	b.wantLike(after)
}

// TestACommandThatHidesWhatItDid puts back the times and the size of what it wrote.
func TestACommandThatHidesWhatItDid(t *testing.T) {
	b := newObserved(t)
	b.Write("a.txt", "one\n")
	old := time.Now().Add(-time.Hour)
	b.Must(os.Chtimes(b.Abs("a.txt"), old, old))
	for n := range 3 {
		call := fmt.Sprint("c", n)
		b.command(call, func() {
			b.Write("a.txt", fmt.Sprintf("tw%d\n", n))
			b.Must(os.Chtimes(b.Abs("a.txt"), old, old))
		})
		b.wantKept(call, "overwrite a.txt +1 -1")
	}
	b.command("nothing", func() {})
	b.wantKept("nothing")
	b.wantReverted(Selection{SessionID: "s"}, "back")
	b.want("a.txt", "one\n")
}

// TestOthersMeanwhile change what is not the command's: another call, and the user.
func TestOthersMeanwhile(t *testing.T) {
	b := newObserved(t)
	for _, name := range []string{"call.txt", "typed.txt", "saved.txt", "own.txt"} {
		b.Write(name, "one\n")
	}
	typed, saved := b.show("typed.txt"), b.show("saved.txt")
	b.kept("c", func() {
		b.Write("own.txt", "two\n")
		b.mustCommit(b.plan("call.txt", "two\n"))
		saved.set("two\n")
		saved.save()
		b.Observer.Claim(saved.path)
		typed.set("unsaved\n")
		b.Write("typed.txt", "two\n")
	})
	b.wantKept("c", "overwrite own.txt +1 -1")
	b.command("d", func() { b.Write("call.txt", "three\n") })
	b.wantKept("d", "overwrite call.txt +1 -1")
}

// TestCommandsAtOnce: each change is in the journal once, with whoever ends first.
func TestCommandsAtOnce(t *testing.T) {
	b := newObserved(t)
	b.Write("a.txt", "one\n")
	b.Write("b.txt", "one\n")
	before := b.all()
	b.command("outer", func() {
		b.Write("a.txt", "two\n")
		b.command("inner", func() { b.Write("b.txt", "two\n") })
		b.Write("a.txt", "three\n")
	})
	b.wantKept("inner", "overwrite a.txt +1 -1", "overwrite b.txt +1 -1")
	b.wantKept("outer", "overwrite a.txt +1 -1")
	b.wantReverted(Selection{SessionID: "s"}, "back")
	b.wantLike(before)
}

// TestManyCommandsAtOnce write the same files while other calls change others: each
// change is in the journal once, and in an order in which all can be taken back.
func TestManyCommandsAtOnce(t *testing.T) {
	b := newObserved(t)
	for n := range 4 {
		b.Write(fmt.Sprintf("f%d.txt", n), "as it was\n")
	}
	b.Write("call.txt", "one\n")
	before := b.all()
	var running sync.WaitGroup
	for n := range 6 {
		running.Go(func() {
			for round := range 8 {
				one := b.Observe(t.Context())
				for k := range 2 {
					if err := os.WriteFile(b.Abs(fmt.Sprintf("f%d.txt", (n+round+k)%5)), fmt.Appendf(nil, "%d wrote %d\n", n, round), 0o644); err != nil {
						t.Error(err)
					}
				}
				if unkept := one.End(t.Context(), journal.Origin{CallID: fmt.Sprint(n, " ", round), SessionID: "s", Turn: 1}); unkept != "" {
					t.Errorf("not in the journal: %s", unkept)
				}
			}
		})
	}
	for n := range 20 {
		b.mustCommit(b.plan("call.txt", fmt.Sprintf("%d\n", n)))
	}
	running.Wait()
	for _, sel := range []Selection{{SessionID: "s"}, {CallID: "a call"}} {
		b.wantReverted(sel, "back")
	}
	b.wantLike(before)
}

func TestWhatIsNotKeptOfACommandIsSaid(t *testing.T) {
	defer func(files int, bytes, one int64, again time.Duration) {
		mostFiles, mostBytes, mostOne, lookAgain = files, bytes, one, again
	}(mostFiles, mostBytes, mostOne, lookAgain)
	mostFiles, mostBytes, mostOne, lookAgain = 8, 2000, 1000, 0
	b := newObserved(t)
	b.Write(".gitignore", "*.o\n")
	b.Write("ignored.o", "o\n")
	b.Write("large", strings.Repeat("x", 1001))
	b.Write("a.txt", "one\n")
	b.Must(os.Link(b.Abs("a.txt"), filepath.Join(t.TempDir(), "outside")))
	for _, try := range []struct {
		does func()
		want string
	}{
		{func() { b.Write("ignored.o", "p\n") }, ""},
		{func() { b.Write("large", strings.Repeat("y", 1001)) }, "large (it is too large)"},
		{func() { b.Write("a.txt", "two\n") }, "a.txt (it has other names)"},
		{func() { b.Write(".gitignore", "\n") }, "ignored.o, which was ignored before, or is new"},
		{func() { b.Write("b.txt", strings.Repeat("z", 999)); b.Write("c.txt", strings.Repeat("z", 999)) }, "the workspace has more than 8 files, or 0 MiB, that git does not have as they are; that much is not copied"},
		{func() {}, "the workspace has more than 8 files"},
		{func() { b.Remove("b.txt") }, "the workspace has more than 8 files"},
		{func() { b.Remove("c.txt") }, ""},
	} {
		if got := b.command("c", try.does); !strings.Contains(got, try.want) || (got == "") != (try.want == "") {
			t.Errorf("it says %q, want %q", got, try.want)
		}
	}
	b.wantKept("c", "delete c.txt +0 -1", "overwrite .gitignore +1 -1")
	b.Observer.Told = func(context.Context) (uint64, bool) { return 7, true }
	mostFiles = 1
	if got := b.command("c", func() {}); got != "" {
		t.Errorf("of a command that changed nothing it says %q", got)
	}
}

// TestAFileThatBecomesAFolder comes back when what is in the folder has gone.
func TestAFileThatBecomesAFolder(t *testing.T) {
	b := newObserved(t)
	b.Write("a", "one\n")
	b.Write("dir/b", "one\n")
	before := b.all()
	b.command("c", func() {
		b.Remove("a")
		b.Write("a/new", "two\n")
		b.Remove("dir")
		b.Write("dir", "two\n")
	})
	b.wantKept("c", "delete a +0 -1", "create a/new +1 -0", "create dir +1 -0", "delete dir/b +0 -1")
	for range 2 {
		b.revertCall("c")
	}
	b.wantLike(before)
}

// TestACommandThatLeadsOutside leaves links where files were: neither the look nor the
// revert goes through them.
func TestACommandThatLeadsOutside(t *testing.T) {
	b, outside := newObserved(t), t.TempDir()
	b.Must(os.WriteFile(filepath.Join(outside, "a.txt"), []byte("secret\n"), 0o644))
	b.Write("dir/a.txt", "one\n")
	b.Write("file", "one\n")
	b.Write("moved/a.txt", "one\n")
	b.Write("moved/b.txt", "one\n")
	b.Write("other/a.txt", "other\n")
	b.command("c", func() {
		b.Remove("moved")
		b.Link("other", "moved")
		b.Remove("dir")
		b.Link(outside, "dir")
		b.Remove("file")
		b.Link(filepath.Join(outside, "a.txt"), "file")
	})
	b.wantKept("c", "create dir +0 -0", "delete dir/a.txt +0 -1", "delete file +0 -0", "create file +0 -0",
		"create moved +0 -0", "delete moved/a.txt +0 -1", "delete moved/b.txt +0 -1")
	if r := b.revertCall("c"); len(r.Conflicts) != 3 {
		t.Errorf("conflicts: %v", r.Reasons)
	}
	b.want("file", "one\n")
	b.revertCall("c") // now that the links have gone
	for _, name := range []string{"dir/a.txt", "moved/a.txt", "moved/b.txt"} {
		b.want(name, "one\n")
	}
	if b.want("other/a.txt", "other\n"); b.onDisk("other/b.txt") != "<absent>" {
		t.Error("it came back where the link led")
	}
	left, err := os.ReadDir(outside)
	b.Must(err)
	data, err := os.ReadFile(filepath.Join(outside, "a.txt"))
	if b.Must(err); string(data) != "secret\n" || len(left) != 1 {
		t.Errorf("outside there is %q, and %d entries", data, len(left))
	}
}
