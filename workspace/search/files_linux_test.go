package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/search"
	"pillion/workspace/watch"
)

// forest is a workspace folder with somebody who watches it, as in use.
type forest struct {
	*search.Files
	t    *testing.T
	top  string // the folder around, where rules may lie too
	dir  string
	root workspace.Path
	tree *watch.Tree
}

func newForest(t *testing.T) *forest {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	f := &forest{t: t, top: t.TempDir()}
	f.dir = filepath.Join(f.top, "work")
	f.must(os.MkdirAll(filepath.Join(f.dir, ".git/info"), 0o755))
	w, err := workspace.Open(workspace.Folder{Dir: f.dir})
	f.must(err)
	f.root = w.Roots()[0]
	watcher := &watch.Watcher{}
	t.Cleanup(func() { f.must(watcher.Close()); f.must(w.Close()) })
	f.tree = watcher.Tree(watch.TreeOptions{
		Roots: func() []string { return []string{f.root.Abs()} }, Private: t.TempDir(),
		Folders: func(ctx context.Context, dir string, visit func(string) error) error {
			if dir == f.root.Abs() {
				f.Finding(f.root)
			}
			return w.WatchedFolders(ctx, dir, visit)
		},
	})
	f.Files = search.NewFiles(f.tree.Settle, f.tree.Rescan)
	t.Cleanup(f.Close)
	f.tree.Follow(func(events []watch.Event) {
		for _, e := range events {
			if e.Op == watch.Lost {
				f.Lost()
			} else {
				f.Changed(e.Dir, e.Name, e.Op == watch.Created || e.Op == watch.Deleted || e.Op == watch.Attributes && e.Folder)
			}
		}
	})
	return f
}

func (f *forest) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *forest) abs(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *forest) write(name, text string) {
	f.t.Helper()
	f.must(os.MkdirAll(filepath.Dir(f.abs(name)), 0o755))
	f.must(os.WriteFile(f.abs(name), []byte(text), 0o644))
}

// spell is all that a list says.
func spell(c *workspace.Contents) string {
	var out strings.Builder
	_ = c.Walk(func(dir *workspace.Contents, e *workspace.Listed) error {
		fmt.Fprintln(&out, dir.Name(e), e.Type, e.Size, e.Modified().UnixNano())
		return nil
	})
	return out.String()
}

// check holds the list that is kept against one that is made anew.
func (f *forest) check(after string) *workspace.Contents {
	f.t.Helper()
	got, err := f.List(context.Background(), f.root, workspace.WalkOptions{}, true)
	f.must(err)
	want, err := f.root.List(context.Background(), workspace.WalkOptions{}, true, 1_000_000)
	f.must(err)
	if spell(got) != spell(want) {
		f.t.Fatalf("after %s, the list has\n%s\nand not\n%s", after, spell(got), spell(want))
	}
	return got
}

// warm waits until a list is kept.
func (f *forest) warm() *workspace.Contents {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if first := f.check("waiting"); first == f.check("waiting") {
			return first
		}
	}
	f.t.Fatalf("no list is ever kept: %+v", f.tree.State())
	return nil
}

func TestAListIsKeptUntilSomethingChanges(t *testing.T) {
	f := newForest(t)
	f.write("a/b/c.txt", "x")
	f.write("d.txt", "x")
	f.write("build/out", "x")
	f.write(".gitignore", "build\n")
	f.tree.Start()
	f.warm()
	outside := filepath.Join(f.top, "outside.txt")
	f.must(os.WriteFile(outside, nil, 0o644))
	for _, step := range []struct {
		what  string
		do    func() error
		stays bool
	}{
		{"nothing", func() error { return nil }, true},
		{"a change in what is ignored", func() error { return os.WriteFile(f.abs("build/more"), nil, 0o644) }, true},
		{"a new file", func() error { return os.WriteFile(f.abs("a/b/new.txt"), nil, 0o644) }, false},
		{"a file written", func() error { return os.WriteFile(f.abs("a/b/c.txt"), []byte("longer"), 0o644) }, false},
		{"a file touched", func() error { return os.Chtimes(f.abs("d.txt"), time.Time{}, time.Unix(1, 2)) }, false},
		{"a file gone", func() error { return os.Remove(f.abs("a/b/new.txt")) }, false},
		{"a folder renamed", func() error { return os.Rename(f.abs("a"), f.abs("z")) }, false},
		{"one replaced by another", func() error {
			f.write("other/b/else.txt", "")
			f.must(os.RemoveAll(f.abs("z")))
			return os.Rename(f.abs("other"), f.abs("z"))
		}, false},
		{"one replaced by another, from elsewhere", func() error {
			f.must(os.MkdirAll(filepath.Join(f.top, "new/b"), 0o755))
			f.must(os.WriteFile(filepath.Join(f.top, "new/b/moved.txt"), nil, 0o644))
			f.must(os.Rename(f.abs("z"), filepath.Join(f.top, "old")))
			return os.Rename(filepath.Join(f.top, "new"), f.abs("z"))
		}, false},
		{"a folder that became a file", func() error {
			f.must(os.RemoveAll(f.abs("z/b")))
			return os.WriteFile(f.abs("z/b"), nil, 0o644)
		}, false},
		{"a link", func() error { return os.Symlink("d.txt", f.abs("link")) }, false},
		{"other rules", func() error { return os.WriteFile(f.abs(".gitignore"), []byte("*.txt\n"), 0o644) }, false},
		{"a file in a folder that is not ignored any more", func() error { return os.WriteFile(f.abs("build/third"), nil, 0o644) }, false},
		{"rules around", func() error { return os.WriteFile(filepath.Join(f.top, ".ignore"), []byte("third\n"), 0o644) }, false},
		{"rules in the repository", func() error { return os.WriteFile(f.abs(".git/info/exclude"), []byte("more\n"), 0o644) }, false},
		{"the user's own rules", func() error {
			f.must(os.MkdirAll(filepath.Join(os.Getenv("HOME"), ".config/git"), 0o755))
			return os.WriteFile(filepath.Join(os.Getenv("HOME"), ".config/git/ignore"), []byte("out\n"), 0o644)
		}, false},
	} {
		before := f.warm()
		f.must(step.do())
		if after := f.check(step.what); step.stays != (after == before) {
			t.Errorf("%s: the list that was kept is given: %t", step.what, after == before)
		}
	}
	// What a repository inside excludes lies where nobody looks.
	f.must(os.MkdirAll(f.abs("z/.git/info"), 0o755))
	f.write("z/inner/c", "")
	for n := range 10 {
		f.warm()
		f.must(os.WriteFile(f.abs("z/.git/info/exclude"), []byte([]string{"inner\n", ""}[n%2]), 0o644))
		f.check("other rules in a repository inside")
		f.warm()
		if n%2 == 0 {
			f.tree.Rescan() // from now on inner is not watched
			f.warm()
		}
		f.write("z/inner/c", fmt.Sprint(n))
		f.check("a change in what it may exclude")
	}
}

// A folder that nobody may read is not in the list, and is when somebody may.
func TestAFolderThatIsClosedAndOpened(t *testing.T) {
	f := newForest(t)
	f.write("a/closed/in", "x")
	f.must(os.Chmod(f.abs("a/closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(f.abs("a/closed"), 0o700) })
	f.tree.Start()
	for deadline := time.Now().Add(time.Minute); f.tree.Settle(context.Background()) != nil && time.Now().Before(deadline); {
	}
	f.check("closed")
	f.must(os.Chmod(f.abs("a/closed"), 0o700))
	f.check("opened")
	f.write("a/closed/more", "x")
	f.check("a file in it")
	f.must(os.Chmod(f.abs("a/closed"), 0))
	f.check("closed again")
}

func TestPartsOfAKeptList(t *testing.T) {
	f := newForest(t)
	f.write("a/b/c.txt", "x")
	f.write("build/out", "x")
	f.write(".gitignore", "build\n")
	f.tree.Start()
	f.warm()
	f.must(os.Symlink("a", f.abs("link")))
	for _, name := range []string{"a", "a/b", "build", "link", "link/b"} {
		for _, o := range []workspace.WalkOptions{{}, {MaxDepth: 1}, {MaxDepth: 2}, {IncludeIgnored: true}} {
			got, err := f.List(context.Background(), f.root.Join(name), o, true)
			f.must(err)
			want, err := f.root.Join(name).List(context.Background(), o, true, 1000)
			f.must(err)
			if spell(got) != spell(want) {
				t.Errorf("%s %+v:\n%s\nand not\n%s", name, o, spell(got), spell(want))
			}
		}
	}
	if _, err := f.List(context.Background(), f.root.Join("a/b/c.txt"), workspace.WalkOptions{}, true); err == nil {
		t.Error("a file was listed as a folder")
	}
}

// Somebody changes the folder at random, rules too, and the list is right after each
// step, whether or not it was kept.
func TestAKeptListIsNeverWrong(t *testing.T) {
	f := newForest(t)
	f.tree.Start()
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(names ...string) string { return names[random.IntN(len(names))] }
	name := func() string {
		return strings.Repeat(pick("a/", "b/", ""), random.IntN(3)) + pick("x", "y", "a", "b", "c.o")
	}
	for step := range machine.Cases(100, 800) {
		at := f.abs(name())
		var what string
		switch random.IntN(11) {
		case 0, 1, 2:
			what = "write " + at
			if os.MkdirAll(filepath.Dir(at), 0o755) == nil {
				_ = os.WriteFile(at, make([]byte, random.IntN(100)), 0o644)
			}
		case 3:
			what = "mkdir " + at
			_ = os.MkdirAll(at, 0o755)
		case 4:
			what = "remove " + at
			_ = os.RemoveAll(at)
		case 5:
			to := f.abs(name())
			what = "rename " + at + " " + to
			_ = os.Rename(at, to)
		case 6:
			what = "link " + at
			_ = os.Symlink(pick("x", "a", "b"), at)
		case 7:
			what = "mode " + at
			_ = os.Chmod(at, fs.FileMode(0o700|random.IntN(0o77)))
		case 8:
			if random.IntN(4) > 0 {
				break
			}
			at = f.abs(pick("", "a", "b") + "/" + pick(".gitignore", ".ignore", ".rgignore", ".git/info/exclude"))
			what = "rules " + at
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			_ = os.WriteFile(at, []byte(pick("a\n", "*.o\n", "/b/\n!x\n", "")), 0o644)
		case 9:
			what = "swap " + at + " with one from elsewhere"
			away := filepath.Join(f.top, fmt.Sprint("away", random.IntN(3)))
			if os.Rename(at, away+"-new") == nil {
				_ = os.Rename(away, at)
				_ = os.Rename(away+"-new", away)
			}
		}
		f.check(fmt.Sprintf("step %d, %s", step, what))
	}
	f.warm()
}

func TestListsForManyAtOnce(t *testing.T) {
	f := newForest(t)
	f.write("a/b/c.txt", "x")
	f.tree.Start()
	done := make(chan error)
	for i := range 8 {
		go func() {
			var err error
			for n := 0; n < 40 && err == nil; n++ {
				name := f.abs(fmt.Sprintf("a/%d-%d", i, n))
				if err = os.WriteFile(name, nil, 0o644); err != nil {
					break
				}
				var list *workspace.Contents
				if list, err = f.List(context.Background(), f.root, workspace.WalkOptions{}, n%2 == 0); err == nil && !strings.Contains(spell(list), fmt.Sprintf("a/%d-%d ", i, n)) {
					err = fmt.Errorf("%s is not in the list", name)
				}
			}
			done <- err
		}()
	}
	for range 8 {
		f.must(<-done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.List(ctx, f.root, workspace.WalkOptions{}, true); err == nil {
		t.Error("a cancelled call got a list")
	}
}
