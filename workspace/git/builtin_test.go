package git_test

import (
	"context"
	"os"
	"testing"

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
