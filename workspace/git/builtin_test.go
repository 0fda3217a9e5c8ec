package git_test

import (
	"context"
	"crypto/sha1"
	"os"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// TestWithoutGit: where there is no git program, what can be read is as git says.
func TestWithoutGit(t *testing.T) {
	usual := reader
	t.Cleanup(func() { reader = usual })
	reader = &git.Reader{Program: func() string { return "" }}
	r := newRig(t)
	if got := r.sameStatus("not born"); got.Branch != "main" {
		t.Errorf("%+v", got)
	}
	r.write("a", numbered(30))
	r.write("dir/b", "1\n")
	r.write("gone", "1\n")
	r.write(".gitignore", "*.log\n")
	r.commit()
	r.git("branch", "topic")
	r.write("a", numbered(30)+"more\n")
	r.commit()
	r.write("a", "first\n"+numbered(30)+"more\n")
	r.write("dir/b", "2\n")
	r.write("x.log", "1\n")
	r.write("new", "1\n")
	r.must(os.Chmod(r.path(".gitignore"), 0o755))
	r.remove("gone")
	r.git("add", "dir/b")
	r.sameStatus("changed")
	for _, o := range []git.DiffOptions{{Context: 3}, {Context: 3, Staged: true}, {Context: 3, Base: "topic"}, {Context: 3, Base: "HEAD", Staged: true}} {
		got, err := r.diff(o)
		r.must(err)
		if _, err := r.try(got.Diff, "apply", "--numstat", "-"); err != nil || got.FilesChanged == 0 {
			t.Errorf("%+v: %+v is no patch: %v", o, got, err)
		}
		if want := numbers(r.oracle(o, "--numstat", "-z")); len(want) != got.FilesChanged || counted(got)[0] != want[0] {
			t.Errorf("%+v: counted %q, git says %q", o, counted(got), want)
		}
	}
	log, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.path("dir/b"), Limited: true, Limit: 5})
	if err != nil || len(log) != 1 || log[0].Subject != "commit" || log[0].Author.Name != "A" {
		t.Errorf("%+v, %v", log, err)
	}
	r.sameContent("topic", "dir/b")
	if got := r.show("HEAD"); got.Diff.FilesChanged != 1 || got.Diff.Additions != 1 || len(got.Commit.Parents) != 1 {
		t.Errorf("%+v", got)
	}
	r.sameBranches()
	_, err = reader.Switch(context.Background(), r.root, r.top, "topic")
	asFault(t, err, fault.GitError, "needs a git program")
	r.git("config", "core.autocrlf", "true")
	_, err = r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "core.autocrlf", "install git")
	r.git("config", "--unset", "core.autocrlf")
	r.git("config", "core.worktree", "/")
	_, err = r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "core.worktree")
}

// TestACommitWithoutGit keeps what git keeps: what is ignored is refused, and a file that changed in the second in which the index
// was written is not taken for unchanged once the index is younger.
func TestACommitWithoutGit(t *testing.T) {
	without := &git.Reader{Program: func() string { return "" }}
	ctx := context.Background()
	r := newRig(t)
	r.git("config", "user.name", "A")
	r.git("config", "user.email", "a@example.com")
	r.write(".gitignore", "*.log\n")
	r.write("sub/.gitignore", "secret\n")
	r.write("a", "1\n")
	r.write("b", "1\n")
	r.commit()
	for _, name := range []string{"x.log", "sub/secret"} {
		r.write(name, "1\n")
		_, err := without.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.top, Files: []string{r.path(name)}})
		asFault(t, err, fault.GitError, "git ignores "+name)
	}
	info, err := os.Stat(r.path(".git/index"))
	r.must(err)
	r.write("b", "2\n") // of the same size, and as old as the index says
	r.must(os.Chtimes(r.path("b"), info.ModTime(), info.ModTime()))
	r.must(os.Chtimes(r.path(".git/index"), info.ModTime(), info.ModTime()))
	r.write("a", "2\n")
	o := git.CommitOptions{Dir: r.top, Files: []string{r.path("a")}}
	d, err := without.NewDraft(ctx, r.root, o)
	r.must(err)
	r.must(without.MakeCommit(ctx, r.root, o, d, "a"))
	later := info.ModTime().Add(time.Hour)
	r.must(os.Chtimes(r.path(".git/index"), later, later))
	if got := r.git("diff", "--name-only"); got != "b\n" {
		t.Errorf("git sees changed %q", got)
	}
}

// TestAnIndexThatLeadsOutIsNotCommitted by what does not look at it as git does.
func TestAnIndexThatLeadsOutIsNotCommitted(t *testing.T) {
	without := &git.Reader{Program: func() string { return "" }}
	r := newRig(t)
	r.write("dirs/b", "1\n")
	r.commit()
	r.write("dirs/b", "2\n")
	r.git("add", "dirs/b")
	text, err := os.ReadFile(r.path(".git/index"))
	r.must(err)
	body := strings.Replace(string(text[:len(text)-sha1.Size]), "dirs/b", ".GIT/b", 1)
	sum := sha1.Sum([]byte(body))
	r.write(".git/index", body+string(sum[:]))
	_, err = without.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.top})
	asFault(t, err, fault.GitError, "leads out of the work tree")
}
