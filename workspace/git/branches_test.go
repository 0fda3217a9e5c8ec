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

// sameBranches checks that Branches says what git says.
func (r *rig) sameBranches() git.BranchList {
	r.Helper()
	got, err := reader.Branches(context.Background(), r.root, r.top)
	r.must(err)
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
	r.write("a", "1\n")
	r.commit()
	r.git("branch", "topic/one")
	r.git("branch", "topic/two")
	r.git("branch", "ünïcode")
	r.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	r.sameBranches()
	r.git("pack-refs", "--all")
	r.git("branch", "topic/three")
	r.write("a", "2\n")
	r.commit()
	r.write(".git/refs/heads/broken", "nonsense\n")
	r.write(".git/refs/heads/topic/two.lock", "")
	r.sameBranches()
	r.remove(".git/refs/heads/broken")
	r.git("checkout", "-q", "--detach")
	if got := r.sameBranches(); got.Head.Branch != "" {
		t.Errorf("detached: %+v", got)
	}
}

func TestUpstreams(t *testing.T) {
	origin := newRig(t)
	origin.write("a", "1\n")
	origin.commit()
	origin.git("branch", "topic")
	r := origin.clone()
	r.git("checkout", "-q", "--track", "origin/topic")
	r.git("branch", "--track", "local", "main")
	r.git("config", "remote.other.url", origin.top)
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
	r.write("a", "1\n")
	r.commit()
	hash := r.git("rev-parse", "HEAD")
	r.write("outside", hash)
	link := r.path(".git/refs/heads/link")
	r.must(os.Symlink("../../../outside", link))
	if _, err := reader.Branches(context.Background(), r.root, r.top); fault.CodeOf(err) != fault.GitError {
		t.Errorf("a link out of the repository: %v", err)
	}
	r.must(os.Remove(link))
	r.must(os.Symlink("refs/heads/main", r.path(".git/refs/heads/old")))
	r.write(".git/refs/heads/up", "ref: refs/heads/../../../outside\n")
	r.write(".git/refs/heads/pseudo", "ref: HEAD\n")
	got, err := reader.Branches(context.Background(), r.root, r.top)
	r.must(err)
	for _, b := range got.Branches {
		if b.Name == "up" || b.Hash != strings.TrimSpace(hash) {
			t.Errorf("%+v", b)
		}
	}
	r.write(".git/HEAD", "ref: refs/heads/../../../outside\n")
	status, err := reader.Status(context.Background(), r.root, git.StatusOptions{Dir: r.top})
	if err != nil || status.Branch != "" || status.Commit != "" {
		t.Errorf("%+v, %v", status, err)
	}
}
