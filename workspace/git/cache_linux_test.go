package git_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/git"
	"pillion/workspace/watch"
)

// watchedRig is a repository whose folders are watched, as in use.
type watchedRig struct {
	*rig
	*git.Cache
	tree *watch.Tree
}

// watchRig watches the folder of the workspace, which may lie in the repository or
// around it.
func watchRig(r *rig) *watchedRig {
	w, err := workspace.Open(workspace.Folder{Dir: r.root})
	r.must(err)
	root := w.Roots()[0].Abs()
	watcher := &watch.Watcher{}
	r.Cleanup(func() { r.must(watcher.Close()); r.must(w.Close()) })
	f := &watchedRig{rig: r}
	f.tree = watcher.Tree(watch.TreeOptions{
		Roots: func() []string { return []string{root} }, Private: r.TempDir(),
		Folders: func(ctx context.Context, dir string, visit func(string) error) error {
			if dir == root {
				f.Finding(root)
			}
			one := func(dir string) error {
				err := visit(dir)
				if err == nil {
					f.Watching(dir)
				}
				return err
			}
			if err := w.WatchedFolders(ctx, dir, one); err != nil {
				return err
			}
			return f.Tracked(dir, one)
		},
	})
	f.Cache = git.NewCache(f.tree.Settle)
	f.tree.Follow(func(events []watch.Event) {
		for _, e := range events {
			if e.Op == watch.Lost {
				f.Lost()
			} else {
				f.Changed(e.Dir, e.Name, git.Change{CameOrWent: e.Op == watch.Created || e.Op == watch.Deleted, Folder: e.Folder, Went: e.Op == watch.Deleted})
			}
		}
	})
	f.tree.Start()
	return f
}

// check holds what is answered from what is kept against what git says, of all and of a
// part.
func (f *watchedRig) check(about string, dirs ...string) {
	f.Helper()
	for _, dir := range append([]string{""}, dirs...) {
		args := []string{"--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"}
		at := f.root
		if dir != "" {
			at = filepath.Join(f.root, dir)
		}
		if at != f.top {
			args = append(args, "--", at)
		}
		got, err := f.Status(context.Background(), f.root, git.StatusOptions{Dir: at})
		if err != nil {
			f.Fatalf("%s %s: %v", about, dir, err)
		}
		f.compareStatus(about+" "+dir, got, args)
		f.sameDiffs(about, at)
	}
}

// sameDiffs holds diffs from what is kept against those from the disk, which other tests
// hold against git's.
func (f *watchedRig) sameDiffs(about, at string) {
	f.Helper()
	for _, o := range []git.DiffOptions{{Dir: at, Context: 3}, {Dir: at, Context: 3, Staged: true}, {Dir: at, Context: 3, Base: "HEAD"}} {
		got, err := git.DiffCached(context.Background(), f.Cache, f.root, o)
		want, wanted := git.Diff(context.Background(), f.root, o)
		if fmt.Sprint(err) != fmt.Sprint(wanted) || got.Diff != want.Diff {
			f.Fatalf("%s, %+v: %v, not %v: %s", about, o, err, wanted, apart(got.Diff, want.Diff))
		}
	}
}

// warm waits until something is kept.
func (f *watchedRig) warm() any {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if f.check("warming"); f.Keeps(f.top) != nil {
			return f.Keeps(f.top)
		}
	}
	f.Fatalf("nothing is ever kept: %+v", f.tree.State())
	return nil
}

// TestAKeptStatusIsNeverWrong changes watched repositories at random, and holds each
// answer against git's.
func TestAKeptStatusIsNeverWrong(t *testing.T) {
	kept, answers := 0, 0
	for seed := range uint64(machine.Cases(2, 8)) {
		w := world{newRig(t), rand.New(rand.NewPCG(seed, 4))}
		w.settings()
		w.try("", "config", "--unset", "status.showUntrackedFiles") //nolint:errcheck // it may not be set
		w.steps()
		w.commit()
		f := watchRig(w.rig)
		was := f.warm()
		for i := range 15 {
			what := w.happens()
			f.check(fmt.Sprintf("seed %d, step %d, %s", seed, i, what))
			if dir := "dir"; lexists(w.path(dir)) {
				f.check("after "+strconv.Itoa(i), dir)
			}
			answers++
			if now := f.Keeps(f.top); now != nil && now == was {
				kept++
			} else {
				was = f.warm()
			}
		}
	}
	t.Logf("%d of %d answers from what was kept", kept, answers)
	if kept*3 < answers {
		t.Errorf("only %d of %d answers came from what was kept", kept, answers)
	}
}

// happens is one more change of a repository that is watched.
func (w world) happens() string {
	switch w.IntN(14) {
	case 0:
		w.git("add", "-A")
		return "add"
	case 1:
		w.commit()
		return "commit"
	case 2:
		w.try("", "reset", "-q", "--hard") //nolint:errcheck // whatever it does
		return "reset"
	case 3:
		w.remove("moved")
		w.try("", "-c", "x=y", "status") //nolint:errcheck // it rewrites the index
		if os.Rename(w.path("dir"), w.path("moved")) == nil {
			return "a folder moved away"
		}
	case 4:
		w.remove("dir")
		if os.Rename(w.path("moved"), w.path("dir")) == nil {
			return "a folder moved back"
		}
	case 5:
		w.write("new/folder/deep/"+strconv.Itoa(w.IntN(3)), "x")
		return "a new folder"
	case 6:
		w.remove("new/folder/deep")
		return "a new folder emptied"
	case 7:
		w.write(".gitignore", []string{"*.x\n", "dir/sub\n", "new\n", ""}[w.IntN(4)])
		return "rules"
	case 8:
		w.git("config", "core.fileMode", []string{"true", "false"}[w.IntN(2)])
		return "settings"
	}
	for range 1 + w.IntN(3) {
		w.step()
	}
	return "steps"
}

// What nobody tells of is looked at each time.
func TestWhatIsNotWatched(t *testing.T) {
	r := newRig(t)
	r.write(".gitignore", "ignored/\n")
	r.write("ignored/tracked/a", "1\n")
	r.write("linked", "1\n")
	r.write("a", "1\n")
	r.git("add", "-f", "ignored/tracked/a")
	r.commit()
	other := newRig(t)
	other.write("in", "1\n")
	other.commit()
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.top, "module")
	r.commit()
	outside := filepath.Join(t.TempDir(), "other name")
	r.must(os.Link(r.path("linked"), outside))
	r.must(os.MkdirAll(r.path("becomes"), 0o755))
	f := watchRig(r)
	was := f.warm()
	steps := []struct {
		what string
		do   func()
	}{
		{"an ignored folder", func() { r.write("ignored/tracked/a", "2\n") }},
		{"put back", func() { r.write("ignored/tracked/a", "1\n") }},
		{"gone", func() { r.remove("ignored/tracked") }},
		{"come again", func() { r.write("ignored/tracked/a", "1\n") }},
		{"its untracked files", func() { r.write("ignored/tracked/b", "1\n") }},
		{"another name of a file", func() { r.must(os.WriteFile(outside, []byte("22\n"), 0o600)) }},
		{"a submodule", func() { r.write("module/in", "2\n") }},
		{"its untracked files", func() { r.git("-C", "module", "checkout", "-q", "."); r.write("module/new", "2\n") }},
		{"its commits", func() {
			r.git("-C", "module", "add", "-A")
			r.git("-C", "module", "commit", "-qm", "x")
		}},
		{"the branch", func() { r.git("symbolic-ref", "HEAD", "refs/heads/none") }},
		{"and back", func() { r.git("symbolic-ref", "HEAD", "refs/heads/main") }},
		{"info/exclude", func() { r.write("loose", "1\n"); r.write(".git/info/exclude", "loose\n") }},
		{"the user's rules", func() {
			r.write(".git/info/exclude", "")
			r.write("../user", "loose\n")
			r.git("config", "core.excludesFile", r.path("../user"))
		}},
		{"its text", func() { r.write("../user", "nothing\n") }},
		{"a submodule's settings", func() { r.git("config", "submodule.module.ignore", "all") }},
	}
	for _, step := range steps {
		step.do()
		f.check(step.what)
		f.check(step.what + ", again")
	}
	_ = was
	f.warm()
	r.write("becomes/file", "1\n")
	f.check("an untracked folder")
	r.git("-C", "becomes", "init", "-q")
	f.check("becomes a repository")
	f.warm()
	r.remove("becomes/.git/HEAD")
	f.check("and none again")
	r.git("config", "status.showUntrackedFiles", "all")
	f.check("with all untracked files")
}

// A second status of a large tree looks at what has changed alone.
func TestOnlyWhatChangedIsLookedAt(t *testing.T) {
	r := newRig(t)
	for i := range 200 {
		r.write(fmt.Sprintf("d%d/f%d", i%20, i), "1\n")
	}
	r.commit()
	f := watchRig(r)
	was := f.warm()
	for i := range 10 {
		r.write(fmt.Sprintf("d%d/f%d", i, i), "22\n")
		r.write(fmt.Sprintf("d%d/new%d", i, i), "")
		f.check("changed", "d1", "d1/f1", "d0/new0", "d15")
	}
	r.remove("d4")
	r.remove("d5/f5")
	f.check("removed", "d5")
	r.write("d4", "a file\n")
	f.check("another kind", "d4")
	if f.Keeps(r.top) != was {
		t.Error("all was looked at anew")
	}
}

// The workspace may be a part of the repository, or the repository of the workspace.
func TestKeptParts(t *testing.T) {
	for _, where := range []string{"inner", ".."} {
		r := newRig(t)
		r.root = filepath.Join(r.top, where)
		r.write("inner/a", "1\n")
		r.write("inner/sub/b", "1\n")
		r.write("outer", "1\n")
		r.commit()
		if where == ".." {
			r.root = filepath.Dir(r.top)
		}
		f := &watchedRig{}
		*f = *watchRig(r)
		say := func(about string) {
			t.Helper()
			at := r.top
			if where != ".." {
				at = r.root
			}
			got, err := f.Status(context.Background(), r.root, git.StatusOptions{Dir: at})
			if err != nil {
				t.Fatal(about, err)
			}
			want, _ := porcelain(r.git("status", "--porcelain=v2", "--branch", "-z", "--", at))
			if have := asPorcelain(got, nil); !slices.Equal(have, want) {
				t.Errorf("%s %s: %s", where, about, apart(strings.Join(have, "\n"), strings.Join(want, "\n")))
			}
		}
		for deadline := time.Now().Add(time.Minute); f.Keeps(r.top) == nil && f.Keeps(r.root) == nil; {
			say("warming")
			if time.Now().After(deadline) {
				t.Fatalf("nothing is kept: %+v", f.tree.State())
			}
		}
		r.write("inner/a", "2\n")
		r.write("inner/new/x", "2\n")
		r.write("outer", "2\n")
		say("changed")
		r.write(".gitignore", "new\n")
		say("rules from above")
	}
}
