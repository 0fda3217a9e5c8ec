//go:build unix

package tools_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pillion/internal/fault"
)

// shows checks that the dialog about a call has all these words, each where the program
// of that name is run in the end.
func (w *world) shows(tool string, args map[string]any, words ...string) {
	w.t.Helper()
	need := w.needs(tool, args)
	if need.Preview == nil {
		w.t.Fatalf("no dialog: %+v", need.Error)
	}
	for _, word := range words {
		if !strings.Contains(need.Preview.Markdown, word) {
			w.t.Errorf("%q is not in\n%s", word, need.Preview.Markdown)
		}
	}
}

// TestTheProgramThatNamesTheKey is shown: git runs it to sign by ssh.
func TestTheProgramThatNamesTheKey(t *testing.T) {
	w := gitWorldAtHome(t)
	canary := w.script("../home/canary", `echo >"$HOME/fired"; exit 1`)
	w.config("commit.gpgsign", "true", "gpg.format", "ssh", "gpg.ssh.defaultKeyCommand", canary)
	w.write("a.txt", "two\n")
	args := map[string]any{"message": "two"}
	w.shows("git.commit", args, "Signed: with ssh-keygen (ssh), the key named by "+fault.Quote(canary)+"\n")
	if got := w.gitTool("git.commit", args); got.OK || !w.exists("../home/fired") {
		t.Errorf("the program did not run: %+v", got)
	}
}

// TestWhatFetchesMissingObjects is shown: in a partial clone git runs it by the way.
func TestWhatFetchesMissingObjects(t *testing.T) {
	w := gitWorldAtHome(t)
	canary := w.script("../home/canary", `echo >"$HOME/fired"; exec "$@"`)
	w.says("clone", "-q", "--bare", ".", w.path("../origin"))
	w.says("remote", "add", "origin", w.path("../origin"))
	w.config("core.repositoryFormatVersion", "1", "extensions.partialClone", "origin", "remote.origin.promisor", "true", "remote.origin.uploadpack", canary+" git-upload-pack")
	w.write("a.txt", "two\n")
	w.says("add", "a.txt")
	w.says("commit", "-qm", "two")
	blob := w.says("rev-parse", "HEAD:b.txt")
	w.must(os.RemoveAll(w.path(".git/objects/" + blob[:2] + "/" + blob[2:])))
	w.write("a.txt", "three\n")
	args := map[string]any{"message": "three", "files": []string{"a.txt"}}
	w.shows("git.commit", args, "Fetches missing objects by: "+fault.Quote(canary+" git-upload-pack")+"\n")
	if got := w.gitTool("git.commit", args); !got.OK || !w.exists("../home/fired") {
		t.Errorf("nothing was fetched: %+v", got)
	}
}

// TestARepositoryInTheWorkTree: what is laid out as a bare repository is never taken for
// the one that is committed to, though git on its own would take it.
func TestARepositoryInTheWorkTree(t *testing.T) {
	for _, what := range []string{"refs", "HEAD", "objects"} {
		w := gitWorldAtHome(t)
		w.says("clone", "-q", "--bare", ".", "bare")
		for _, name := range []string{"HEAD", "config", "objects", "refs", "packed-refs"} {
			w.must(os.Rename(w.path("bare/"+name), w.path(name)))
		}
		w.write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n[user]\n\tname = X\n\temail = x@example.org\n")
		w.script("hooks/pre-commit", `echo >"$HOME/fired"`)
		w.must(os.RemoveAll(w.path(".git/" + what)))
		w.write("a.txt", "two\n")
		got := w.gitTool("git.commit", map[string]any{"message": "two", "files": []string{"a.txt"}})
		if got.OK || w.exists("../home/fired") {
			t.Errorf("without %s: %+v", what, got)
		}
		if status := w.gitTool("git.status", nil); status.OK {
			t.Errorf("without %s: there is a repository", what)
		}
	}
}

// TestManyBranches: the first of them are listed, and how many there are.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	var refs strings.Builder
	head := w.says("rev-parse", "HEAD")
	for i := range 10_500 {
		fmt.Fprintf(&refs, "%s refs/heads/a%05d\n", head, i)
	}
	w.write(".git/packed-refs", refs.String())
	got := w.gitTool("git.branch", map[string]any{"action": "list"})
	if !got.OK || got.Current != "main" || !got.Truncated || got.Total != 10_501 || len(got.Branches) != 10_000 {
		t.Errorf("%v: of %d there are %d, on %q", got.Error, got.Total, len(got.Branches), got.Current)
	}
}
