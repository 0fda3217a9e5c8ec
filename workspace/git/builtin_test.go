package git_test

import (
	"context"
	"crypto/sha1"
	"os"
	"os/exec"
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
	r.Write("a", numbered(30))
	r.Write("dir/b", "1\n")
	r.Write("gone", "1\n")
	r.Write(".gitignore", "*.log\n")
	r.commit()
	r.git("branch", "topic")
	r.Write("a", numbered(30)+"more\n")
	r.commit()
	r.Write("a", "first\n"+numbered(30)+"more\n")
	r.Write("dir/b", "2\n")
	r.Write("x.log", "1\n")
	r.Write("new", "1\n")
	r.Must(os.Chmod(r.Abs(".gitignore"), 0o755))
	r.Remove("gone")
	r.git("add", "dir/b")
	r.sameStatus("changed")
	for _, o := range []git.DiffOptions{{Context: 3}, {Context: 3, Staged: true}, {Context: 3, Base: "topic"}, {Context: 3, Base: "HEAD", Staged: true}} {
		got, err := r.diff(o)
		r.Must(err)
		if _, err := r.try(got.Diff, "apply", "--numstat", "-"); err != nil || got.FilesChanged == 0 {
			t.Errorf("%+v: %+v is no patch: %v", o, got, err)
		}
		if want := numbers(r.oracle(o, "--numstat", "-z")); len(want) != got.FilesChanged || counted(got)[0] != want[0] {
			t.Errorf("%+v: counted %q, git says %q", o, counted(got), want)
		}
	}
	log, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Abs("dir/b"), Limited: true, Limit: 5})
	if err != nil || len(log) != 1 || log[0].Subject != "commit" || log[0].Author.Name != "A" {
		t.Errorf("%+v, %v", log, err)
	}
	r.sameContent("topic", "dir/b")
	if got := r.show("HEAD"); got.Diff.FilesChanged != 1 || got.Diff.Additions != 1 || len(got.Commit.Parents) != 1 {
		t.Errorf("%+v", got)
	}
	r.sameBranches()
	_, err = reader.Switch(context.Background(), r.root, r.Dir, "topic")
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
	r.Write(".gitignore", "*.log\n")
	r.Write("sub/.gitignore", "secret\n")
	r.Write("a", "1\n")
	r.Write("b", "1\n")
	r.commit()
	for _, name := range []string{"x.log", "sub/secret"} {
		r.Write(name, "1\n")
		_, err := without.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs(name)}})
		asFault(t, err, fault.GitError, "git ignores "+name)
	}
	info, err := os.Stat(r.Abs(".git/index"))
	r.Must(err)
	r.Write("b", "2\n") // of the same size, and as old as the index says
	r.Must(os.Chtimes(r.Abs("b"), info.ModTime(), info.ModTime()))
	r.Must(os.Chtimes(r.Abs(".git/index"), info.ModTime(), info.ModTime()))
	r.Write("a", "2\n")
	o := git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs("a")}}
	d, err := without.NewDraft(ctx, r.root, o)
	r.Must(err)
	r.Must(without.MakeCommit(ctx, r.root, o, d, "a"))
	later := info.ModTime().Add(time.Hour)
	r.Must(os.Chtimes(r.Abs(".git/index"), later, later))
	if got := r.git("diff", "--name-only"); got != "b\n" {
		t.Errorf("git sees changed %q", got)
	}
}

// TestAnIndexThatLeadsOutIsNotCommitted by what does not look at it as git does.
func TestAnIndexThatLeadsOutIsNotCommitted(t *testing.T) {
	without := &git.Reader{Program: func() string { return "" }}
	r := newRig(t)
	r.Write("dirs/b", "1\n")
	r.commit()
	r.Write("dirs/b", "2\n")
	r.git("add", "dirs/b")
	text, err := os.ReadFile(r.Abs(".git/index"))
	r.Must(err)
	body := strings.Replace(string(text[:len(text)-sha1.Size]), "dirs/b", ".GIT/b", 1)
	sum := sha1.Sum([]byte(body))
	r.Write(".git/index", body+string(sum[:]))
	_, err = without.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir})
	asFault(t, err, fault.GitError, "leads out of the work tree")
}

// TestADraftTakesNoIgnoredFile: what git add would refuse is refused before anybody is asked.
func TestADraftTakesNoIgnoredFile(t *testing.T) {
	r := newRig(t)
	r.Write(".gitignore", "*.log\n!kept.log\n/build/\n/top\ncache\n")
	r.Write("sub/.gitignore", "!*.log\nsecret\n")
	r.Write("build/.gitignore", "!*\n") // which does not count: its folder is passed over
	r.Write(".git/info/exclude", "mine\n")
	r.Write("tracked.log", "1\n")
	r.git("add", "-f", "tracked.log")
	r.commit()
	seen := map[bool]int{}
	for _, name := range []string{
		"a.txt", "x.log", "kept.log", "tracked.log", "build/a", "top", "sub/top", "sub/x.log", "sub/secret", "sub/deep/secret",
		"sub/build/x", "deep/er/x.log", "cache/a", "sub/cache/a", "cachet", "mine", "sub/mine", "deep/kept.log",
	} {
		r.Write(name, "2\n")
		add := exec.CommandContext(t.Context(), "git", "add", "--dry-run", "--", name)
		add.Dir = r.Dir
		refused := add.Run() != nil
		seen[refused]++
		_, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs(name)}})
		if refused {
			asFault(t, err, fault.GitError, "git ignores "+name)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if seen[true] < 5 || seen[false] < 5 {
		t.Errorf("git refused %d and took %d", seen[true], seen[false])
	}
}
