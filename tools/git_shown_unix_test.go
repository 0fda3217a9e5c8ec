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

// TestFiltersThatComeWithASwitch: the attributes that count are those of the branch, and
// git looks through them at files that the switch does not change.
func TestFiltersThatComeWithASwitch(t *testing.T) {
	w := gitWorldAtHome(t)
	canary := w.script("../home/canary", `echo "$@" >>"$HOME/fired"; cat`)
	w.says("switch", "-qc", "other")
	w.write("sub/.gitattributes", "*.txt filter=late\n")
	w.write("sub/x.txt", "x\n")
	w.says("add", ".")
	w.says("commit", "-qm", "other")
	w.says("switch", "-q", "main")
	w.config("filter.late.smudge", canary+" smudge")
	w.shows("git.branch", map[string]any{"action": "switch", "name": "other"}, "Filters: "+fault.Quote(canary+" smudge")+"\n")
	if got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "other"}); !got.OK || !w.exists("../home/fired") {
		t.Errorf("the filter did not run: %+v", got)
	}
	w.must(os.RemoveAll(w.path("../home/fired")))
	w.config("filter.late.clean", canary+" clean", "filter.never.clean", canary+" never")
	w.write("sub/x.txt", "y\n")
	w.write("a.txt", "two\n")
	args := map[string]any{"message": "a alone", "files": []string{"a.txt"}}
	w.shows("git.commit", args, fault.Quote(canary+" clean"))
	if need := w.needs("git.commit", args); strings.Contains(need.Preview.Markdown, "never") {
		t.Errorf("a filter of no file is named:\n%s", need.Preview.Markdown)
	}
	if got := w.gitTool("git.commit", args); !got.OK || !w.exists("../home/fired") {
		t.Errorf("the filter did not run: %+v", got)
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

// TestTheMessageIsTheOneThatWasShown, whatever the settings make of lines with #.
func TestTheMessageIsTheOneThatWasShown(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.config("commit.cleanup", "strip", "i18n.commitEncoding", "ISO-8859-1")
	w.write("a.txt", "two\n")
	const message = "two caf\u00e9s\n\n# a heading\n\ntext"
	if got := w.gitTool("git.commit", map[string]any{"message": message}); !got.OK {
		t.Fatal(got.Error)
	}
	if got := w.says("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%B"); got != message {
		t.Errorf("the message is %q", got)
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

// TestFoldersThatBecameFilesAndLinks: what git has at a path is shown and committed,
// whatever stands in its place, and wherever a link leads.
func TestFoldersThatBecameFilesAndLinks(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	outside := w.path("../outside")
	w.write("../outside/x.txt", "not of this workspace\n")
	for _, name := range []string{"file/x.txt", "link/x.txt", "out/x.txt"} {
		w.write(name, "x\n")
	}
	w.must(os.Symlink(outside+"/before", w.path("leads")))
	w.says("add", ".")
	w.says("commit", "-qm", "folders")
	for _, name := range []string{"file", "link", "out", "leads"} {
		w.must(os.RemoveAll(w.path(name)))
	}
	w.write("file", "a file\n")
	w.must(os.Symlink("a.txt", w.path("link")))
	w.must(os.Symlink(outside, w.path("out")))
	w.must(os.Symlink(outside+"/after", w.path("leads")))
	for _, args := range []map[string]any{{}, {"base": "HEAD"}} {
		if got := w.gitTool("git.diff", args); !got.OK || strings.TrimSpace(got.Diff) != w.says("diff", "HEAD") {
			t.Errorf("%v: %v\n%s", args, got.Error, got.Diff)
		}
	}
	if got := w.gitTool("git.diff", nil); strings.Contains(got.Diff, "not of this workspace") {
		t.Error("a file outside is shown")
	}
	for _, args := range []map[string]any{{"files": []string{"leads"}}, {"files": []string{"out"}}, {}} {
		args["message"] = "links"
		if got := w.gitTool("git.commit", args); !got.OK {
			t.Errorf("%v: %v", args, got.Error)
		}
	}
	if got := w.gitTool("git.show", map[string]any{"ref": "HEAD~2:leads"}); !got.OK {
		t.Error(got.Error)
	}
	if got := w.says("status", "--porcelain"); got != "?? file\n?? link" {
		t.Errorf("left:\n%s", got)
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

// TestHooksOfConditionalSettings: settings that are included because of a remote count.
func TestHooksOfConditionalSettings(t *testing.T) {
	w := gitWorldAtHome(t)
	hook := w.script("../home/hooks/pre-commit", `echo >"$HOME/fired"`)
	w.write("../home/more", "[core]\n\thooksPath = "+w.path("../home/hooks")+"\n")
	w.config(
		"remote.origin.url", "https://example.org/team/project",
		"includeIf.hasconfig:remote.*.url:https://example.org/**.path", w.path("../home/more"),
		"includeIf.hasconfig:remote.*.url:https://example.com/**.path", w.path("../home/none"),
	)
	w.write("a.txt", "two\n")
	args := map[string]any{"message": "two"}
	w.shows("git.commit", args, fault.Quote(hook))
	if got := w.gitTool("git.commit", args); !got.OK || !w.exists("../home/fired") {
		t.Errorf("the hook did not run: %+v", got)
	}
}

// TestWhatGivesWayIsShown: a file that is committed in the place of a folder, or in one
// that was a file, takes with it what was there.
func TestWhatGivesWayIsShown(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.write("folder/x.txt", "x\n")
	w.says("add", ".")
	w.says("commit", "-qm", "folder")
	w.must(os.RemoveAll(w.path("folder")))
	w.must(os.RemoveAll(w.path("a.txt")))
	w.write("folder", "a file\n")
	w.write("a.txt/below", "below\n")
	for file, gone := range map[string]string{"folder": "folder/x.txt", "a.txt/below": "a.txt"} {
		args := map[string]any{"message": "in its place", "files": []string{file}}
		w.shows("git.commit", args, "D "+gone)
		if got := w.gitTool("git.commit", args); !got.OK || len(got.Differs) > 0 {
			t.Errorf("%s: %v, other than shown: %v", file, got.Error, got.Differs)
		}
	}
	if got := w.says("status", "--porcelain"); got != "" {
		t.Errorf("left:\n%s", got)
	}
}
