package git_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

func (r *rig) show(ref string) git.Shown {
	r.Helper()
	got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.root, Ref: ref, Context: 3})
	if err != nil {
		r.Fatalf("%s: %v", ref, err)
	}
	return got
}

// gitShow is the diff of git show.
func (r *rig) gitShow(ref string) string {
	r.Helper()
	return strings.TrimLeft(r.git("show", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-merges=first-parent", "--format=", ref+"^{commit}"), "\n")
}

// sameShow checks that Show says what git show says.
func (r *rig) sameShow(ref string) git.Shown {
	r.Helper()
	got := r.show(ref)
	if want := r.gitShow(ref); got.Diff.Diff != want {
		r.Errorf("%s: %s", ref, apart(got.Diff.Diff, want))
	}
	if want := r.gitLog(git.LogOptions{Ref: ref, Limit: 1}); logged([]git.LogCommit{got.Commit}) != want {
		r.Errorf("%s: %s", ref, apart(logged([]git.LogCommit{got.Commit}), want))
	}
	return got
}

// sameContent checks what a commit has at a path.
func (r *rig) sameContent(ref, name string) git.Shown {
	r.Helper()
	got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.Abs(name), File: true, Ref: ref})
	r.Must(err)
	if want := r.git("cat-file", "blob", ref+":"+name); string(got.Content) != want {
		r.Errorf("%s:%s: got %q, git says %q", ref, name, got.Content, want)
	}
	return got
}

func TestShow(t *testing.T) {
	r := newRig(t)
	r.Write("a", numbered(30))
	r.Write("dir/b", "1\n")
	r.Write("ü", "1\n")
	r.Write("binary", "\x00\x01")
	r.commit()
	r.Write("a", strings.Replace(numbered(30), "line20()", "changed()", 1))
	r.Remove("dir/b")
	r.Write("dir/new", numbered(10))
	r.Write("binary", "\x00\x02")
	r.Must(os.Chmod(r.Abs("ü"), 0o755))
	r.commit()
	r.git("mv", "dir/new", "moved")
	r.Link("a", "link")
	r.commit()
	r.Remove("ü")
	r.Write("ü/inside", "a folder now\n")
	r.commit()
	r.git("commit", "-q", "--allow-empty", "-m", "nothing")
	for _, ref := range []string{"HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"} {
		r.sameShow(ref)
	}
	r.git("gc", "-q")
	for _, ref := range []string{"HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4"} {
		r.sameShow(ref)
	}
	if first := r.show("HEAD~4"); first.Parent != "" || first.Diff.FilesChanged != 4 {
		t.Errorf("got %+v", first)
	}
	r.sameContent("HEAD", "a")
	r.sameContent("HEAD~3", "dir/new") // which is gone
	r.sameContent("HEAD", "ü/inside")
	if got := r.sameContent("HEAD", "link"); got.Kind != git.KindSymlink {
		t.Errorf("got %+v", got)
	}
	if got := r.show("HEAD~3:dir"); fmt.Sprint(got.Entries) != "[{new file}]" || got.Path != "dir" {
		t.Errorf("got %+v", got)
	}
	if got := r.show("HEAD:"); len(got.Entries) != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestShowMerge(t *testing.T) {
	r := newRig(t)
	r.Write("a", numbered(20))
	r.commit()
	r.git("checkout", "-q", "-b", "topic")
	r.Write("b", "topic\n")
	r.Write("a", numbered(20)+"topic\n")
	r.commit()
	r.git("checkout", "-q", "main")
	r.Write("a", "main\n"+numbered(20))
	r.commit()
	r.git("merge", "-q", "--no-edit", "topic")
	got := r.sameShow("HEAD")
	if len(got.Commit.Parents) != 2 || got.Parent != got.Commit.Parents[0] || got.Diff.FilesChanged != 2 {
		t.Errorf("got %+v", got)
	}
	r.sameShow("HEAD^2")
}

func TestShowTag(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	r.Setenv("GIT_COMMITTER_DATE", "@1112911993 -0230")
	r.git("tag", "-a", "v1", "-m", "first\n\nwith a body")
	r.git("tag", "light")
	got := r.sameShow("v1")
	if got.Tag == nil || *got.Tag != (git.Tag{Name: "v1", Tagger: git.Person{Name: "C", Email: "c@example.com"}, Date: "2005-04-07T19:43:13-02:30", Message: "first\n\nwith a body"}) {
		t.Errorf("got %+v", got.Tag)
	}
	if got := r.sameShow("light"); got.Tag != nil {
		t.Errorf("got %+v", got.Tag)
	}
}

// Of a repository that begins above the workspace only the workspace is shown.
func TestShowFromBelow(t *testing.T) {
	r := newRig(t)
	r.Write("outside", "1\n")
	r.Write("in/a", "1\n")
	r.Write("in/dir/b", "1\n")
	r.commit()
	r.root = r.Abs("in")
	got := r.show("HEAD")
	if want := r.git("show", "--format=", "HEAD", "--", "in"); got.Diff.Diff != strings.TrimLeft(want, "\n") || got.Within != "in" {
		t.Errorf("within %q: %s", got.Within, apart(got.Diff.Diff, want))
	}
	if got := r.show("HEAD:in/dir/b"); got.Path != "dir/b" || string(got.Content) != "1\n" {
		t.Errorf("got %+v", got)
	}
	for _, ref := range []string{"HEAD:outside", "HEAD:in/../outside", "HEAD:../x", "HEAD:/etc/passwd", "HEAD:"} {
		_, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.root, Ref: ref})
		asFault(t, err, fault.PathOutsideWorkspace)
	}
}

func TestShowFaults(t *testing.T) {
	r := newRig(t)
	r.Write("a", numbered(100))
	r.commit()
	show := func(o git.ShowOptions) error {
		if o.Dir == "" {
			o.Dir = r.Dir
		}
		_, err := reader.Show(context.Background(), r.root, o)
		return err
	}
	asFault(t, show(git.ShowOptions{Ref: "nonsense"}), fault.GitError, "nonsense names no commit")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:never"}), fault.FileNotFound, "never is not in the commit", "git.log")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:a/b"}), fault.FileNotFound)
	asFault(t, show(git.ShowOptions{Ref: "HEAD:.git/config"}), fault.PathOutsideWorkspace)
	asFault(t, show(git.ShowOptions{Ref: ":a"}), fault.GitError, "no commit is given")
	asFault(t, show(git.ShowOptions{Ref: "HEAD:a", MaxBytes: 10}), fault.FileTooLarge, "more than 10 bytes")
	asFault(t, show(git.ShowOptions{Ref: "HEAD", MaxDiff: 10}), fault.FileTooLarge, "the diff has")
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
	asFault(t, show(git.ShowOptions{Ref: blob}), fault.GitError, "names no commit")
}
