package git_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// sameBranches checks that Branches says what git says.
func (r *rig) sameBranches() git.BranchList {
	r.Helper()
	got, err := reader.Branches(context.Background(), r.root, r.Dir)
	r.Must(err)
	var lines strings.Builder
	for _, b := range got.Branches {
		fmt.Fprintf(&lines, "%s %s %s\n", b.Name, b.Hash, b.Upstream)
	}
	want := r.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname) %(upstream:short)", "refs/heads/")
	if lines.String() != want {
		r.Errorf("got\n%s\ngit says\n%s", lines.String(), want)
	}
	branch := strings.TrimSpace(r.git("branch", "--show-current"))
	hash, err := r.try("", "rev-parse", "--verify", "-q", "HEAD")
	if err != nil {
		hash = ""
	}
	if hash = strings.TrimSpace(hash); got.Head != (git.Head{Branch: branch, Hash: hash}) {
		r.Errorf("head %+v, git says %q %q", got.Head, branch, hash)
	}
	return got
}

func TestBranches(t *testing.T) {
	r := newRig(t)
	if got := r.sameBranches(); got.Head.Branch != "main" || len(got.Branches) != 0 {
		t.Errorf("before the first commit: %+v", got)
	}
	r.Write("a", "1\n")
	r.commit()
	r.git("branch", "topic/one")
	r.git("branch", "topic/two")
	r.git("branch", "ünïcode")
	r.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	r.sameBranches()
	r.git("pack-refs", "--all")
	r.git("branch", "topic/three")
	r.Write("a", "2\n")
	r.commit()
	r.Write(".git/refs/heads/broken", "nonsense\n")
	r.Write(".git/refs/heads/topic/two.lock", "")
	r.sameBranches()
	r.Remove(".git/refs/heads/broken")
	r.git("checkout", "-q", "--detach")
	if got := r.sameBranches(); got.Head.Branch != "" {
		t.Errorf("detached: %+v", got)
	}
}

func TestUpstreams(t *testing.T) {
	origin := newRig(t)
	origin.Write("a", "1\n")
	origin.commit()
	origin.git("branch", "topic")
	r := origin.clone()
	r.git("checkout", "-q", "--track", "origin/topic")
	r.git("branch", "--track", "local", "main")
	r.git("config", "remote.other.url", origin.Dir)
	r.git("config", "--add", "remote.other.fetch", "^refs/heads/x")
	r.git("config", "--add", "remote.other.fetch", "+refs/heads/*:refs/remotes/elsewhere/*/there")
	r.git("branch", "odd", "main")
	r.git("config", "branch.odd.remote", "other")
	r.git("config", "branch.odd.merge", "refs/heads/main")
	r.git("branch", "gone", "main")
	r.git("config", "branch.gone.remote", "origin")
	r.git("config", "branch.gone.merge", "refs/heads/gone")
	r.sameBranches()
	for _, base := range []string{"@{u}", "main@{upstream}", "local@{u}"} {
		r.same(git.DiffOptions{Context: 3, Base: base})
	}
}

// TestReferencesAreReadBelowRefsAlone: what leads out of them is none, neither by a name nor by a link.
func TestReferencesAreReadBelowRefsAlone(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	hash := r.git("rev-parse", "HEAD")
	r.Write("outside", hash)
	link := r.Abs(".git/refs/heads/link")
	r.Must(os.Symlink("../../../outside", link))
	if _, err := reader.Branches(context.Background(), r.root, r.Dir); fault.CodeOf(err) != fault.GitError {
		t.Errorf("a link out of the repository: %v", err)
	}
	r.Must(os.Remove(link))
	r.Link("refs/heads/main", ".git/refs/heads/old")
	r.Write(".git/refs/heads/up", "ref: refs/heads/../../../outside\n")
	r.Write(".git/refs/heads/pseudo", "ref: HEAD\n")
	got, err := reader.Branches(context.Background(), r.root, r.Dir)
	r.Must(err)
	for _, b := range got.Branches {
		if b.Name == "up" || b.Hash != strings.TrimSpace(hash) {
			t.Errorf("%+v", b)
		}
	}
	r.Write(".git/HEAD", "ref: refs/heads/../../../outside\n")
	status, err := reader.Status(context.Background(), r.root, git.StatusOptions{Dir: r.Dir})
	if err != nil || status.Branch != "" || status.Commit != "" {
		t.Errorf("%+v, %v", status, err)
	}
}

// history makes a branch of commits in a row, each at its time.
func (r *rig) history(branch string, times ...int) {
	r.Helper()
	var in strings.Builder
	for i, at := range times {
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata <<END\n%s %d\n\nbody\nEND\n", branch, i+1, at, branch, i+1)
		if i > 0 {
			fmt.Fprintf(&in, "from :%d\n", i)
		}
		in.WriteString("\n")
	}
	_, err := r.try(in.String(), "fast-import", "--quiet")
	r.Must(err)
}

// TestCommitsOfOneDate: what is in another branch is found there, also where dates do
// not tell which commit came first.
func TestCommitsOfOneDate(t *testing.T) {
	const at = 1_700_000_000
	for name, times := range map[string][]int{
		"one date": {at, at, at, at}, "a clock that is late": {at, at, at - 3600, at - 7200}, "in order": {at, at + 1, at + 2, at + 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.history("main", times...)
			for i := range 3 {
				r.git("branch", fmt.Sprint("old", i), fmt.Sprint("main~", i+1))
			}
			for i := range 3 {
				if got, err := reader.Delete(context.Background(), r.root, r.Dir, fmt.Sprint("old", i)); err != nil || got.Beyond == "" {
					t.Errorf("old%d: %+v, %v", i, got, err)
				}
			}
			r.git("branch", "more", "main")
			r.git("update-ref", "refs/heads/main", "main~1")
			if _, err := reader.Delete(context.Background(), r.root, r.Dir, "more"); err == nil || !strings.Contains(err.Error(), "1 commit is not in HEAD") {
				t.Errorf("a branch that has more: %v", err)
			}
		})
	}
}

// TestNewsOfAPush: what the remote gets is named, the youngest first.
func TestNewsOfAPush(t *testing.T) {
	const at = 1_700_000_000
	r := newRig(t)
	r.history("main", slices.Repeat([]int{at}, 25)...)
	r.git("remote", "add", "origin", "https://example.org/kettle.git")
	for ahead, want := range map[int]string{0: "", 2: "main 25, main 24", 24: "main 25, main 24, main 23"} {
		r.git("update-ref", "refs/remotes/origin/main", fmt.Sprint("main~", ahead))
		push, err := reader.NewPush(context.Background(), r.root, git.PushOptions{Dir: r.Dir})
		r.Must(err)
		var got []string
		for i, n := range push.News {
			got = append(got, n.Subject)
			if n.Hash != strings.TrimSpace(r.git("rev-parse", fmt.Sprint("main~", i))) {
				t.Errorf("%d ahead: %+v", ahead, n)
			}
		}
		if said := strings.Join(got[:min(3, len(got))], ", "); push.Ahead != ahead || len(got) != min(ahead, 20) || said != want {
			t.Errorf("%d ahead: %d, %d of them: %s", ahead, push.Ahead, len(got), said)
		}
	}
}
