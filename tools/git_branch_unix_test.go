//go:build unix

package tools_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

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
