package tools_test

import (
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
)

// TestHooksAreHeld: what agents wrote may run in a hook, so git is held where one runs:
// it can commit, and the hook can write neither outside nor to git's settings.
func TestHooksAreHeld(t *testing.T) {
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	w.script(".git/hooks/pre-commit", `echo out >"$HOME/written"; echo '[core]' >>.git/config; echo in >inside.txt; exit 0`)
	w.do("session s full_access")
	w.write("a.txt", "two\n")
	settings := read(t, w.path(".git/config"))
	if got := w.gitTool("git.commit", map[string]any{"message": "two"}); !got.OK || w.says("log", "-1", "--format=%s") != "two" {
		t.Fatalf("%+v", got)
	}
	if w.exists("../home/written") || read(t, w.path(".git/config")) != settings || !w.exists("inside.txt") {
		t.Error("the hook was not held")
	}
}

// TestHooksOfASignedCommit run where the keys are, which always asks; where a sandbox
// is required they do not.
func TestHooksOfASignedCommit(t *testing.T) {
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	w.says("config", "--global", "commit.gpgsign", "true")
	w.script(".git/hooks/pre-commit", "exit 0")
	w.do("session s full_access")
	w.write("a.txt", "two\n")
	need := w.gitNeed("git.commit", map[string]any{"message": "two"})
	if need.Verdict != policy.Ask || !strings.Contains(strings.Join(need.Reasons, "\n"), "outside the sandbox") {
		t.Errorf("%+v", need)
	}
	strict := held(t, tools.Sandbox{Mode: tools.SandboxRequire})
	strict.gitReady()
	strict.says("config", "--global", "commit.gpgsign", "true")
	strict.script(".git/hooks/pre-commit", `echo out >"$HOME/written"; exit 1`)
	strict.write("a.txt", "two\n")
	if got := strict.gitTool("git.commit", map[string]any{"message": "two"}); got.OK || got.Error.Code != fault.GitError || strict.exists("../home/written") {
		t.Errorf("%+v", got)
	}
}

// TestCodeLabAsksAboutCommits whatever the mode and the rules.
func TestCodeLabAsksAboutCommits(t *testing.T) {
	w := codeLab(t)
	w.do("allow git.commit")
	w.gitReady()
	w.registry.Approvals = approval.NewQueue(w.human, 0)
	w.write("a.txt", "two\n")
	if code, asked := w.call("git.commit", arguments{"message": "two"}); code != "" || asked != 1 {
		t.Errorf("%q, asked %d times", code, asked)
	}
	if code, _ := w.call("git.commit", arguments{"message": "two", "files": []string{w.path("a.txt")}}); code != fault.InvalidPath {
		t.Errorf("an absolute path: %q", code)
	}
}
