//go:build unix

package tools_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
)

// TestBranchesOfOtherWorkTrees are neither taken nor deleted.
func TestBranchesOfOtherWorkTrees(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.git("worktree add -q ../linked -b linked")
	for _, action := range []string{"switch", "delete"} {
		got := w.gitTool("git.branch", map[string]any{"action": action, "name": "linked"})
		if got.OK || !strings.Contains(got.Error.Message, "another work tree") {
			t.Errorf("%s: %+v", action, got)
		}
	}
}

// TestASwitchLosesNothing: of whatever is not committed all is there afterwards,
// whether the switch was made or refused.
func TestASwitchLosesNothing(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.write(".gitignore", "*.log\n")
	w.git("add .")
	w.git("commit -qm ignore")
	w.git("switch -q -c other")
	for name, text := range map[string]string{"a.txt": "other\n", "new.txt": "other\n", "dir/x.txt": "other\n", "made.log": "other\n", "file": "other\n"} {
		w.write(name, text)
	}
	w.git("rm -q b.txt")
	w.git("add -f .")
	w.git("commit -qm other")
	w.git("switch -q main")
	for name, c := range map[string]struct {
		files map[string]string
		stage bool
		lost  bool
	}{
		"nothing":                               {},
		"a file that both have":                 {files: map[string]string{"a.txt": "mine\n"}, lost: true},
		"the same, staged":                      {files: map[string]string{"a.txt": "mine\n"}, stage: true, lost: true},
		"as the other branch has it, staged":    {files: map[string]string{"a.txt": "other\n"}, stage: true},
		"a file that the other deletes":         {files: map[string]string{"b.txt": "mine\n"}, lost: true},
		"a file of no concern":                  {files: map[string]string{".gitignore": "*.log\nmine\n"}},
		"an untracked file":                     {files: map[string]string{"new.txt": "mine\n"}, lost: true},
		"an ignored file":                       {files: map[string]string{"made.log": "mine\n"}, lost: true},
		"an ignored file of no concern":         {files: map[string]string{"mine.log": "mine\n"}},
		"a file where a folder is to be":        {files: map[string]string{"dir": "mine\n"}, lost: true},
		"a folder where a file is to be":        {files: map[string]string{"file/x": "mine\n"}, lost: true},
		"an ignored file where a file is to be": {files: map[string]string{"file/x.log": "mine\n"}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			for name, text := range c.files {
				w.write(name, text)
			}
			if c.stage {
				w.git("add -A")
			}
			got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "other"})
			if got.OK == c.lost || c.lost && got.Error.Code != fault.WorkTreeDirty {
				t.Errorf("switched %t: %+v", got.OK, got.Error)
			}
			for name, text := range c.files {
				if now, err := os.ReadFile(w.path(name)); err != nil || string(now) != text {
					t.Errorf("%s is %q, %v", name, now, err)
				}
			}
			w.git("switch -q -f main")
			w.git("clean -qfdx")
			w.git("reset -q --hard")
		})
	}
}

// TestBranchNames holds our reading of names to git's.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	names := []string{
		"x", "a/b", "-x", "--x", "a..b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a.lock", "a.lock/b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "@", "a@b", "a@{b", "é",
		"HEAD", "a\x7fb", "a\tb", "refs/heads/x", "@{-1}", "a.b", "]", "'", "\"", "$(x)", ";", "|", "a.lock.b",
	}
	for _, name := range names {
		cmd := exec.Command("git", "check-ref-format", "--branch", name)
		cmd.Dir = w.path(".")
		var exit *exec.ExitError
		err := cmd.Run()
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		got := w.gitTool("git.branch", map[string]any{"action": "create", "name": name})
		if want := err == nil && name != "@{-1}" && name != "@"; got.OK != want {
			t.Errorf("%q: made %t, git would %t: %+v", name, got.OK, want, got.Error)
		}
	}
	if all := strings.Split(w.says("for-each-ref", "--format=%(refname:strip=2)", "refs/heads"), "\n"); !slices.Contains(all, "$(x)") {
		t.Errorf("%q", all)
	}
}
