package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/workspace/git"
)

// conflict leaves both, ours and theirs in conflict, and gone deleted by them.
func conflict(r *rig) {
	r.write("both", "base\n")
	r.write("gone", "base\n")
	r.write("fine", "base\n")
	r.commit()
	r.git("checkout", "-q", "-b", "theirs")
	r.write("both", "theirs\n")
	r.write("added", "theirs\n")
	r.remove("gone")
	r.commit()
	r.git("checkout", "-q", "main")
	r.write("both", "ours\n")
	r.write("added", "ours\n")
	r.write("gone", "ours\n")
	r.commit()
	if _, err := r.try("", "merge", "theirs"); err == nil {
		r.Fatal("the merge was expected to end in a conflict")
	}
	r.write("fine", "changed\n")
}

// A conflict is shown as git diff --ours shows it: its default format for
// them, --cc, is none that can be applied.
func TestConflict(t *testing.T) {
	r := newRig(t)
	conflict(r)
	got, err := r.diff(git.DiffOptions{Context: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.oracle(git.DiffOptions{Context: 3}, "--ours"); got.Diff != want {
		t.Errorf("got\n%s\ngit says\n%s", got.Diff, want)
	}
	for _, o := range []git.DiffOptions{{Context: 3, Staged: true}, {Context: 3, Base: "HEAD"}, {Context: 3, Base: "HEAD~1"}} {
		got, err := r.diff(o)
		if want := r.oracle(o); err != nil || got.Diff != want {
			t.Errorf("%+v: %v got\n%s\ngit says\n%s", o, err, got.Diff, want)
		}
	}
	if status := got.Files[0].Status + got.Files[1].Status + got.Files[2].Status + got.Files[3].Status; status != "UUMU" {
		t.Errorf("statuses %s of %+v", status, got.Files)
	}
}

func TestSubmodules(t *testing.T) {
	r, other := newRig(t), newRig(t)
	other.write("a", "1\n")
	other.commit()
	for _, name := range []string{"moved", "dirty", "untracked", "staged", "clean", "removed", "empty"} {
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.top, "modules/"+name)
	}
	r.commit()
	sub := func(name string) *rig { return r.inner("modules/" + name) }
	sub("moved").write("b", "2\n")
	sub("moved").commit()
	sub("dirty").write("a", "2\n")
	sub("untracked").write("b", "2\n")
	sub("staged").write("a", "2\n")
	sub("staged").git("add", "a")
	r.remove("modules/removed")
	r.git("submodule", "--quiet", "deinit", "modules/empty")
	for _, o := range everyKind {
		r.same(o)
	}
	r.git("add", "modules/moved")
	for _, o := range everyKind {
		r.same(o)
	}
	inner := sub("dirty") // the workspace's path leads into the submodule
	inner.same(git.DiffOptions{Context: 3, Dir: inner.top})
}

func TestLinkedWorkTree(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	linked := r.linked("topic")
	linked.write("a", "2\n")
	linked.commit()
	linked.write("a", "3\n")
	linked.git("config", "extensions.worktreeConfig", "true")
	linked.git("config", "--worktree", "core.quotePath", "false")
	linked.write("é", "new\n")
	linked.git("add", "-N", "é")
	for _, o := range append(everyKind, git.DiffOptions{Base: "main"}, git.DiffOptions{Base: "topic"}) {
		linked.same(o)
	}
}

func TestAlternates(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	clone := r.clone("--shared")
	clone.write("a", "2\n")
	clone.same(git.DiffOptions{Context: 3})
	relative, err := filepath.Rel(clone.path(".git/objects"), r.path(".git/objects"))
	r.must(err)
	clone.write(".git/objects/info/alternates", relative+"\n")
	clone.same(git.DiffOptions{Context: 3, Base: "HEAD"})
}

// Files that would block or lead out are not read.
func TestUnreadableThings(t *testing.T) {
	r := newRig(t)
	r.write("secret/a", "1\n")
	r.write("fifo", "1\n")
	r.commit()
	outside := t.TempDir()
	r.must(os.WriteFile(filepath.Join(outside, "a"), []byte("outside\n"), 0o600))
	r.remove("secret")
	r.must(os.Symlink(outside, r.path("secret")))
	r.remove("fifo")
	fifo(t, r.path("fifo"))
	got, err := r.diff(git.DiffOptions{Context: 3})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Diff, "outside") || got.Deletions != 2 || got.Additions != 0 {
		t.Errorf("got %+v", got)
	}
}
