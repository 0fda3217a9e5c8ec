package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
)

// TestHooksAreHeld: what agents wrote may run in a hook, so git is held where one runs:
// it can commit, and the hook can write neither outside nor to git's settings.
func TestHooksAreHeld(t *testing.T) {
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.ownHome()
	w.gitReady()
	w.script(".git/hooks/pre-commit", `echo out >"$HOME/written"; echo '[core]' >>.git/config; touch .git/steering; echo in >inside.txt; exit 0`)
	w.do("session s full_access")
	w.write("a.txt", "two\n")
	settings := read(t, w.path(".git/config"))
	got := w.gitTool("git.commit", map[string]any{"message": "two"})
	if !got.OK || w.says("log", "-1", "--format=%s") != "two" {
		t.Fatalf("%+v", got)
	}
	if works(w).Level == process.Bubblewrap && (w.exists(".git/steering") || !strings.Contains(got.HookOutput, "steering;")) {
		t.Errorf("not said: %+v", got)
	}
	if w.exists("../home/written") || read(t, w.path(".git/config")) != settings || !w.exists("inside.txt") {
		t.Error("the hook was not held")
	}
}

// TestHooksOfASignedCommit run where the keys are, which always asks; where a sandbox
// is required they do not.
func TestHooksOfASignedCommit(t *testing.T) {
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.ownHome()
	w.gitReady()
	w.says("config", "--global", "commit.gpgsign", "true")
	w.script(".git/hooks/pre-commit", "exit 0")
	w.do("session s full_access")
	w.write("a.txt", "two\n")
	need := w.needs("git.commit", map[string]any{"message": "two"})
	if need.Verdict != policy.Ask || !strings.Contains(strings.Join(need.Reasons, "\n"), "outside the sandbox") {
		t.Errorf("%+v", need)
	}
	strict := held(t, tools.Sandbox{Mode: tools.SandboxRequire})
	strict.ownHome()
	strict.gitReady()
	strict.says("config", "--global", "commit.gpgsign", "true")
	strict.script(".git/hooks/pre-commit", `echo out >"$HOME/written"; exit 1`)
	strict.write("a.txt", "two\n")
	if got := strict.gitTool("git.commit", map[string]any{"message": "two"}); got.OK || got.Error.Code != fault.GitError || strict.exists("../home/written") {
		t.Errorf("%+v", got)
	}
}

// TestNothingIsLaidOutForTheNextGit: what a hook runs, and what agents may have written,
// leaves nothing in a repository that makes the user's next git run programs.
func TestNothingIsLaidOutForTheNextGit(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	if works(w).Level != process.Bubblewrap {
		t.Log("not run: there is no bubblewrap")
		return
	}
	w.must(os.RemoveAll(w.path(".git/hooks")))
	w.git("init -q lib")
	w.git("-C lib commit -q --allow-empty -m lib")
	w.git("-c protocol.file.allow=always submodule add -q ./lib deep/sub")
	w.git("commit -qm sub")
	w.git("init -q build/dep")
	w.write(".gitignore", "build\n")
	steering := []string{
		".git/commondir", ".git/config.worktree", ".git/hooks/post-commit", ".git/worktrees/x/commondir", ".git/info/attributes",
		".git/modules/deep/sub/commondir", ".git/modules/deep/sub/hooks/post-checkout", ".git/modules/other/config", "build/dep/.git/hooks/post-commit", "build/dep/.git/commondir",
	}
	lay := w.script("lay.sh", `for f in "$@"; do mkdir -p "${f%/*}"; echo "../evil" >"$f"; done; mv .git/config .git/was; mv .git .git-was; true`)
	line := "git -c alias.lay='!" + lay + " " + strings.Join(steering, " ") + "' lay"
	settings := w.holds(".git/config")
	got := w.run("run_command", line, nil)
	for _, name := range steering {
		if text := w.holds(name); strings.Contains(text, "evil") {
			t.Errorf("%s was written: %+v", name, got)
		}
	}
	if got := w.run("run_command", "git commit -qm more --allow-empty", nil); got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	if w.holds(".git/config") != settings || w.says("log", "-1", "--format=%s") != "more" || !strings.Contains(got.Hint, "commondir") {
		t.Errorf("%+v", got)
	}
	if left, err := filepath.Glob(w.path(".git/pillion-*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

// TestGitDoesItsWorkInACopy: all that an ordinary day asks of it.
func TestGitDoesItsWorkInACopy(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	ok := func(line string) string {
		t.Helper()
		got := w.run("run_command", line, nil)
		if got.ExitCode != 0 || !got.OK || got.Hint != "" {
			t.Errorf("%s: %+v", line, got)
		}
		return got.Stdout
	}
	ok("git switch -q -c topic && echo two > a.txt")
	ok("git add a.txt && git commit -qm two")
	ok("git switch -q main && echo three > b.txt")
	ok("git commit -qam three && git merge -q topic -m merged && git tag v1 && git stash list")
	w.write("a.txt", "stashed\n")
	ok("git stash && git stash pop && git add a.txt && git commit -qm four")
	ok("git switch -q topic && echo other > b.txt")
	ok("git commit -qam conflict")
	if got := w.run("run_command", "git rebase main", nil); got.ExitCode == 0 || !w.exists(".git/rebase-merge") {
		t.Fatalf("no conflict: %+v", got)
	}
	ok("git rebase --abort")
	if w.exists(".git/rebase-merge") || w.says("status", "--porcelain") != "" || w.says("log", "-1", "--format=%s") != "conflict" {
		t.Errorf("%s", w.says("status"))
	}
	ok("git gc -q && git pack-refs --all")
	if got := w.says("log", "--oneline", "--all", "--format=%s"); !strings.Contains(got, "merged") || w.exists(".git/objects/info/commit-graph") {
		t.Error(got)
	}
	ok("git branch a && git branch b/c && git tag t")
	ok("git branch -D a b/c && git branch a/b && git branch b")
	ok("git pack-refs --all && git branch -D a/b && git branch a")
	ok("git symbolic-ref refs/remotes/origin/HEAD refs/heads/main")
	ok("git switch -q --detach main && git cherry-pick --no-commit topic; git reset -q --hard && git switch -q topic")
	if got := w.says("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags"); got != "a\nb\nmain\ntopic\nt\nv1" {
		t.Error(got)
	}
	w.must(os.Mkdir(w.path(".git/rr-cache"), 0o755))
	w.says("commit", "--allow-empty", "-qm", "as rerere has it")
	ok("git bisect start HEAD HEAD~2")
	ok("git bisect good && git bisect reset")
	ok("git switch -q main && echo rerere > b.txt && git commit -qam rerere")
	w.says("fsck", "--strict")
}
