package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/workspace/git"
)

// numbered is a text of n lines.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "func line%d()\n", i)
	}
	return out.String()
}

// Each state of a repository is compared with git in four ways: work tree and
// index, index and HEAD, work tree and HEAD, index and HEAD by name.
func TestSameAsGit(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(r *rig)
	}{
		{"clean", func(r *rig) { r.write("a", "a\n"); r.commit() }},
		{"untracked", func(r *rig) { r.write("a", "a\n"); r.commit(); r.write("b", "b\n") }},
		{"modified", func(r *rig) {
			r.write("a", numbered(30))
			r.commit()
			r.write("a", strings.Replace(numbered(30), "line20()", "changed()", 1))
		}},
		{"staged and changed again", func(r *rig) {
			r.write("a", numbered(30))
			r.commit()
			r.write("a", "staged\n"+numbered(30))
			r.git("add", "a")
			r.write("a", "staged\n"+numbered(30)+"last\n")
		}},
		{"added, deleted, both", func(r *rig) {
			r.write("a", "a\n")
			r.write("gone", "gone\n")
			r.write("sub/staged", "x\n")
			r.commit()
			r.write("new", "new\nfile\n")
			r.write("empty", "")
			r.git("add", "new", "empty")
			r.git("rm", "-q", "sub/staged")
			r.remove("gone")
		}},
		{"emptied and filled", func(r *rig) {
			r.write("a", "a\n")
			r.write("b", "")
			r.commit()
			r.write("a", "")
			r.write("b", "b\n")
		}},
		{"no newline at end", func(r *rig) {
			r.write("a", "a\nb")
			r.write("b", "a\nb\n")
			r.write("c", "a\nb")
			r.commit()
			r.write("a", "a\nb\n")
			r.write("b", "a\nb")
			r.write("c", "x\nb")
		}},
		{"mode", func(r *rig) {
			r.write("a", "a\n")
			r.write("b", "b\n")
			r.commit()
			r.must(os.Chmod(r.path("a"), 0o755))
			r.must(os.Chmod(r.path("b"), 0o755))
			r.write("b", "changed\n")
		}},
		{"mode, not to be heeded", func(r *rig) {
			r.write("a", "a\n")
			r.commit()
			r.git("config", "core.fileMode", "false")
			r.must(os.Chmod(r.path("a"), 0o755))
			r.write("a", "b\n")
		}},
		{"symlinks", func(r *rig) {
			r.must(os.Symlink("target", r.path("link")))
			r.must(os.Symlink("target", r.path("becomes-file")))
			r.write("becomes-link", "text\n")
			r.commit()
			r.remove("link")
			r.must(os.Symlink("elsewhere/long", r.path("link")))
			r.remove("becomes-file")
			r.write("becomes-file", "now text\n")
			r.remove("becomes-link")
			r.must(os.Symlink("/etc/passwd", r.path("becomes-link")))
		}},
		{"folder behind a link", func(r *rig) {
			r.write("real/a", "a\n")
			r.write("other/a", "other\n")
			r.commit()
			r.remove("real")
			r.must(os.Symlink("other", r.path("real")))
		}},
		{"file became a folder and back", func(r *rig) {
			r.write("a", "a\n")
			r.write("b/c", "c\n")
			r.commit()
			r.remove("a")
			r.write("a/inner", "i\n")
			r.remove("b")
			r.write("b", "now a file\n")
		}},
		{"intent to add", func(r *rig) {
			r.write("a", "a\n")
			r.commit()
			r.write("new", "new\n")
			r.write("empty", "")
			r.git("add", "-N", "new", "empty")
		}},
		{"binary", func(r *rig) {
			r.write("a", "a\x00b\n")
			r.write("late", strings.Repeat("x", 8000)+"\x00\n")
			r.commit()
			r.write("a", "a\x00c\n")
			r.write("late", strings.Repeat("x", 8000)+"\x00changed\n")
			r.write("new", "\x00")
			r.git("add", "new")
			r.must(os.Chmod(r.path("a"), 0o755))
		}},
		{"names", func(r *rig) {
			for _, name := range names {
				r.write(name, "a\n")
			}
			r.commit()
			for _, name := range names {
				r.write(name, "b\n")
			}
		}},
		{"names, unquoted", func(r *rig) {
			r.git("config", "core.quotePath", "false")
			for _, name := range names {
				r.write(name, "a\x00\n")
			}
			r.commit()
			for _, name := range names {
				r.write(name, "b\n")
			}
		}},
		{"renames", func(r *rig) {
			r.write("exact", numbered(20))
			r.write("similar", numbered(40))
			r.write("dir/moved", numbered(60))
			r.write("too different", numbered(10))
			r.commit()
			r.git("mv", "exact", "exact2")
			r.write("dir2/x", "")
			r.git("mv", "similar", "similar2")
			r.write("similar2", numbered(40)+"one\nmore\n")
			r.git("mv", "dir/moved", "dir2/moved")
			r.write("dir2/moved", "first\n"+numbered(50))
			r.remove("too different")
			r.write("quite", "another\n"+numbered(3))
			r.git("add", "-A")
		}},
		{"renamed and executable", func(r *rig) {
			r.write("a b", numbered(20))
			r.commit()
			r.git("mv", "a b", "c d")
			r.must(os.Chmod(r.path("c d"), 0o755))
			r.git("add", "-A")
		}},
		{"renames among equals", func(r *rig) {
			r.write("a/one", numbered(20))
			r.write("b/two", numbered(20))
			r.commit()
			r.git("mv", "a/one", "c-one")
			r.git("mv", "b/two", "two")
		}},
		{"renames off", func(r *rig) {
			r.git("config", "diff.renames", "false")
			r.write("a", numbered(20))
			r.commit()
			r.git("mv", "a", "b")
		}},
		{"assumed unchanged, left out", func(r *rig) {
			r.write("assumed", "a\n")
			r.write("skipped", "a\n")
			r.commit()
			r.git("update-index", "--assume-unchanged", "assumed")
			r.git("update-index", "--skip-worktree", "skipped")
			r.write("assumed", "changed\n")
			r.remove("skipped")
		}},
		{"sparse index", func(r *rig) {
			r.write("in/a", "a\n")
			r.write("out/deep/b", "b\n")
			r.write("out/c", "c\n")
			r.commit()
			r.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
			r.write("in/a", "changed\n")
		}},
		{"index version 4", func(r *rig) {
			for i := range 20 {
				r.write(fmt.Sprintf("folder/sub%d/file", i%3), "a\n")
				r.write(fmt.Sprintf("folder/file%d", i), "a\n")
			}
			r.commit()
			r.git("update-index", "--index-version", "4")
			r.write("folder/file7", "changed\n")
			r.remove("folder/sub2/file")
		}},
		{"packed", func(r *rig) {
			for i := range 20 {
				r.write("a", numbered(200+i))
				r.commit()
			}
			r.git("gc", "-q")
			r.git("pack-refs", "--all")
			r.write("a", numbered(150)+"changed\n"+numbered(20))
		}},
		{"detached head", func(r *rig) {
			r.write("a", "a\n")
			r.commit()
			r.git("checkout", "-q", "--detach")
			r.write("a", "b\n")
		}},
		{"long unbroken text", func(r *rig) {
			r.write("a", strings.Repeat("word ", 100_000))
			r.commit()
			r.write("a", strings.Repeat("word ", 100_001))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.build(r)
			for _, o := range everyKind {
				r.same(o)
			}
		})
	}
}

var names = []string{"with space", "tab\there", "quote\"", "back\\slash", "ünïcode/日本", "new\nline", "bad\xff", "-dash", "a/b/ c"}

// Times that do not betray a change: written twice within one tick of the
// clock, to the same size.
func TestRacy(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		name := fmt.Sprint("f", i)
		r.write(name, "one\n")
		r.git("add", name)
		r.write(name, "two\n")
	}
	for _, name := range []string{"f3", "f4"} { // even with the time put back
		past := time.Now().Add(-time.Hour)
		r.must(os.Chtimes(r.path(name), past, past))
		r.write(name, "one\n")
		r.git("add", name)
		r.write(name, "two\n")
		r.must(os.Chtimes(r.path(name), past, past))
	}
	if got := r.same(git.DiffOptions{Context: 3}); got.FilesChanged != 20 || got.Additions != 20 {
		t.Errorf("%d files changed, want 20", got.FilesChanged)
	}
}

// A file that was only touched has not changed.
func TestTouched(t *testing.T) {
	r := newRig(t)
	r.write("a", "a\n")
	r.commit()
	later := time.Now().Add(time.Hour)
	r.must(os.Chtimes(r.path("a"), later, later))
	if got := r.same(git.DiffOptions{}); got.Diff != "" || got.FilesChanged != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestNoCommitYet(t *testing.T) {
	r := newRig(t)
	r.same(git.DiffOptions{Context: 3})
	r.write("a", "a\n")
	r.git("add", "a")
	r.write("a", "b\n")
	r.same(git.DiffOptions{Context: 3})
	r.same(git.DiffOptions{Context: 3, Staged: true})
}

func TestBase(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	r.git("tag", "-a", "-m", "tag", "v1")
	r.git("branch", "topic")
	r.write("a", "2\n")
	r.write("b", "2\n")
	r.commit()
	r.git("checkout", "-q", "topic")
	r.write("c", "3\n")
	r.commit()
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-edit", "topic")
	r.git("update-ref", "refs/remotes/origin/main", "v1^{commit}")
	r.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	r.git("config", "branch.main.remote", "origin")
	r.git("config", "branch.main.merge", "refs/heads/main")
	r.write("b", "changed\n")
	r.remove("a")
	hash := strings.TrimSpace(r.git("rev-parse", "v1^{commit}"))
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("gc", "-q")
		}
		for _, base := range []string{
			"HEAD", "@", "main", "topic", "v1", "refs/tags/v1", "heads/topic", "origin", "origin/main", "@{upstream}", "main@{u}",
			"HEAD~1", "HEAD~", "HEAD^", "HEAD^2", "HEAD^1~1", "HEAD^0", "v1^{commit}", "@~2", hash, hash[:7], strings.ToUpper(hash[:10]),
		} {
			r.same(git.DiffOptions{Context: 3, Base: base})
			r.same(git.DiffOptions{Context: 3, Base: base, Staged: true})
		}
	}
}

func TestPaths(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a", "dir/b", "dir/sub/c", "dir2/d", "gone/e"} {
		r.write(name, "1\n")
	}
	r.commit()
	for _, name := range []string{"a", "dir/b", "dir/sub/c", "dir2/d"} {
		r.write(name, "2\n")
	}
	r.remove("gone")
	for _, name := range []string{"a", "dir", "dir/sub", "dir/sub/c", "dir2", "gone", "gone/e"} {
		for _, o := range everyKind {
			o.Dir = filepath.Join(r.top, filepath.FromSlash(name))
			r.same(o)
		}
	}
	for _, context := range []int{0, 1, 10} {
		r.same(git.DiffOptions{Context: context})
	}
}

// The workspace may be a folder of the repository: no file outside is shown.
func TestWorkspaceBelowTheTop(t *testing.T) {
	r := newRig(t)
	r.write("outside", "1\n")
	r.write("work/.gitattributes", "*.bin binary\n")
	r.write("work/in", "1\n")
	r.write("work/x.bin", "1\n")
	r.commit()
	for _, name := range []string{"outside", "work/in", "work/x.bin"} {
		r.write(name, "2\n")
	}
	r.root = r.path("work")
	got := r.same(git.DiffOptions{Context: 3, Dir: r.root})
	if got.FilesChanged != 2 || strings.Contains(got.Diff, "outside") || got.Top != r.top {
		t.Errorf("got %+v", got)
	}
}

// And it may hold repositories: the nearest one counts.
func TestRepositoryBelowTheWorkspace(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	r.write("a", "2\n")
	r.root = filepath.Dir(r.top)
	r.same(git.DiffOptions{Context: 3})
}

func TestWorkspaceBehindALink(t *testing.T) {
	r := newRig(t)
	r.write("dir/a", "1\n")
	r.commit()
	r.write("dir/a", "2\n")
	link := filepath.Join(t.TempDir(), "link")
	r.must(os.Symlink(r.top, link))
	want := r.oracle(git.DiffOptions{Context: 3})
	r.root = link
	for _, dir := range []string{link, filepath.Join(link, "dir", "a")} {
		got, err := r.diff(git.DiffOptions{Context: 3, Dir: dir})
		if err != nil || got.Diff != want {
			t.Errorf("%s: %v\n%s", dir, err, got.Diff)
		}
	}
}
