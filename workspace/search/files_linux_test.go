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
	machine.Folder
	top  string // the folder around, where rules may lie too
	root workspace.Path
	tree *watch.Tree
}

func newForest(t *testing.T) *forest {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	top := t.TempDir()
	f := &forest{Folder: machine.Folder{TB: t, Dir: filepath.Join(top, "work")}, top: top}
	f.Must(os.MkdirAll(filepath.Join(f.Dir, ".git/info"), 0o755))
	w, err := workspace.Open(workspace.Folder{Dir: f.Dir})
	f.Must(err)
	f.root = w.Roots()[0]
	watcher := &watch.Watcher{}
	t.Cleanup(func() { f.Must(watcher.Close()); f.Must(w.Close()) })
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
	f.Helper()
	got, err := f.List(context.Background(), f.root, workspace.WalkOptions{}, true)
	f.Must(err)
	want, err := f.root.List(context.Background(), workspace.WalkOptions{}, true, 1_000_000)
	f.Must(err)
	if spell(got) != spell(want) {
		f.Fatalf("after %s, the list has\n%s\nand not\n%s", after, spell(got), spell(want))
	}
	return got
}

// warm waits until a list is kept.
func (f *forest) warm() *workspace.Contents {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if first := f.check("waiting"); first == f.check("waiting") {
			return first
		}
	}
	f.Fatalf("no list is ever kept: %+v", f.tree.State())
	return nil
}

func TestAListIsKeptUntilSomethingChanges(t *testing.T) {
	f := newForest(t)
	f.Write("a/b/c.txt", "x")
	f.Write("d.txt", "x")
	f.Write("build/out", "x")
	f.Write(".gitignore", "build\n")
	f.tree.Start()
	f.warm()
	outside := filepath.Join(f.top, "outside.txt")
	f.Must(os.WriteFile(outside, nil, 0o644))
	for _, step := range []struct {
		what  string
		do    func() error
		stays bool
	}{
		{"nothing", func() error { return nil }, true},
		{"a change in what is ignored", func() error { return os.WriteFile(f.Abs("build/more"), nil, 0o644) }, true},
		{"a new file", func() error { return os.WriteFile(f.Abs("a/b/new.txt"), nil, 0o644) }, false},
		{"a file written", func() error { return os.WriteFile(f.Abs("a/b/c.txt"), []byte("longer"), 0o644) }, false},
		{"a file touched", func() error { return os.Chtimes(f.Abs("d.txt"), time.Time{}, time.Unix(1, 2)) }, false},
		{"a file gone", func() error { return os.Remove(f.Abs("a/b/new.txt")) }, false},
		{"a folder renamed", func() error { return os.Rename(f.Abs("a"), f.Abs("z")) }, false},
		{"one replaced by another", func() error {
			f.Write("other/b/else.txt", "")
			f.Must(os.RemoveAll(f.Abs("z")))
			return os.Rename(f.Abs("other"), f.Abs("z"))
		}, false},
		{"one replaced by another, from elsewhere", func() error {
			f.Must(os.MkdirAll(filepath.Join(f.top, "new/b"), 0o755))
			f.Must(os.WriteFile(filepath.Join(f.top, "new/b/moved.txt"), nil, 0o644))
			f.Must(os.Rename(f.Abs("z"), filepath.Join(f.top, "old")))
			return os.Rename(filepath.Join(f.top, "new"), f.Abs("z"))
		}, false},
		{"a folder that became a file", func() error {
			f.Must(os.RemoveAll(f.Abs("z/b")))
			return os.WriteFile(f.Abs("z/b"), nil, 0o644)
		}, false},
		{"a link", func() error { return os.Symlink("d.txt", f.Abs("link")) }, false},
		{"other rules", func() error { return os.WriteFile(f.Abs(".gitignore"), []byte("*.txt\n"), 0o644) }, false},
		{"a file in a folder that is not ignored any more", func() error { return os.WriteFile(f.Abs("build/third"), nil, 0o644) }, false},
		{"rules around", func() error { return os.WriteFile(filepath.Join(f.top, ".ignore"), []byte("third\n"), 0o644) }, false},
		{"rules in the repository", func() error { return os.WriteFile(f.Abs(".git/info/exclude"), []byte("more\n"), 0o644) }, false},
		{"the user's own rules", func() error {
			f.Must(os.MkdirAll(filepath.Join(os.Getenv("HOME"), ".config/git"), 0o755))
			return os.WriteFile(filepath.Join(os.Getenv("HOME"), ".config/git/ignore"), []byte("out\n"), 0o644)
		}, false},
	} {
		before := f.warm()
		f.Must(step.do())
		if after := f.check(step.what); step.stays != (after == before) {
			t.Errorf("%s: the list that was kept is given: %t", step.what, after == before)
		}
	}
	// What a repository inside excludes lies where nobody looks.
	f.Must(os.MkdirAll(f.Abs("z/.git/info"), 0o755))
	f.Write("z/inner/c", "")
	for n := range 10 {
		f.warm()
		f.Must(os.WriteFile(f.Abs("z/.git/info/exclude"), []byte([]string{"inner\n", ""}[n%2]), 0o644))
		f.check("other rules in a repository inside")
		f.warm()
		if n%2 == 0 {
			f.tree.Rescan() // from now on inner is not watched
			f.warm()
		}
		f.Write("z/inner/c", fmt.Sprint(n))
		f.check("a change in what it may exclude")
	}
}

// A folder that nobody may read is not in the list, and is when somebody may.
func TestAFolderThatIsClosedAndOpened(t *testing.T) {
	f := newForest(t)
	f.Write("a/closed/in", "x")
	f.Must(os.Chmod(f.Abs("a/closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(f.Abs("a/closed"), 0o700) })
	f.tree.Start()
	for deadline := time.Now().Add(time.Minute); f.tree.Settle(context.Background()) != nil && time.Now().Before(deadline); {
	}
	f.check("closed")
	f.Must(os.Chmod(f.Abs("a/closed"), 0o700))
	f.check("opened")
	f.Write("a/closed/more", "x")
	f.check("a file in it")
	f.Must(os.Chmod(f.Abs("a/closed"), 0))
	f.check("closed again")
}

func TestPartsOfAKeptList(t *testing.T) {
	f := newForest(t)
	f.Write("a/b/c.txt", "x")
	f.Write("build/out", "x")
	f.Write(".gitignore", "build\n")
	f.tree.Start()
	f.warm()
	f.Must(os.Symlink("a", f.Abs("link")))
	for _, name := range []string{"a", "a/b", "build", "link", "link/b"} {
		for _, o := range []workspace.WalkOptions{{}, {MaxDepth: 1}, {MaxDepth: 2}, {IncludeIgnored: true}} {
			got, err := f.List(context.Background(), f.root.Join(name), o, true)
			f.Must(err)
			want, err := f.root.Join(name).List(context.Background(), o, true, 1000)
			f.Must(err)
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
	for step := range machine.Cases(100, 800) {
		at := f.Abs(strings.Repeat(pick("a/", "b/", ""), random.IntN(3)) + pick("x", "y", "a", "b", "c.o"))
		var what string
		switch random.IntN(10) {
		case 0:
			what = "mkdir " + at
			_ = os.MkdirAll(at, 0o755)
		case 1:
			what = "link " + at
			_ = os.Symlink(pick("x", "a", "b"), at)
		case 2:
			what = "mode " + at
			_ = os.Chmod(at, fs.FileMode(0o700|random.IntN(0o77)))
		case 3:
			at = f.Abs(pick("", "a", "b") + "/" + pick(".gitignore", ".ignore", ".rgignore", ".git/info/exclude"))
			what = "rules " + at
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			_ = os.WriteFile(at, []byte(pick("a\n", "*.o\n", "/b/\n!x\n", "")), 0o644)
		case 4:
			what = "write " + at
			_ = os.WriteFile(at, make([]byte, random.IntN(100)), 0o644)
		default:
			what = f.disturb(random)
		}
		f.check(fmt.Sprintf("step %d, %s", step, what))
	}
	f.warm()
}

func TestListsForManyAtOnce(t *testing.T) {
	f := newForest(t)
	f.Write("a/b/c.txt", "x")
	f.tree.Start()
	done := make(chan error)
	for i := range 8 {
		go func() {
			var err error
			for n := 0; n < 40 && err == nil; n++ {
				name := f.Abs(fmt.Sprintf("a/%d-%d", i, n))
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
		f.Must(<-done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.List(ctx, f.root, workspace.WalkOptions{}, true); err == nil {
		t.Error("a cancelled call got a list")
	}
}
