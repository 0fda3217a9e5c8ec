package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// TestARepositoryIsWholeAfterAKill amid a command that runs git: its guardian, which outlives
// the sidecar, brings back what is on the list, and removes the copy.
func TestARepositoryIsWholeAfterAKill(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"sandbox": "prefer", "permissions": object{"allow": []string{"run_command"}}}})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = e.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if r := e.Call("run_command", object{"command": "true"}); r.StructuredContent["sandbox"] != "bubblewrap" {
		t.Log("not run: there is no bubblewrap")
		return
	}
	e.Write("a.txt", "one\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
	hook := e.Write(".git/hooks/pre-commit", "#!/bin/sh\ntouch .git/commondir ready\nsleep 1000\n")
	must(t, os.Chmod(hook, 0o755))
	e.Write("a.txt", "two\n")
	failed := begin(t.Context(), e, "run_command", object{"command": "git add a.txt && git -c user.name=A -c user.email=a@example.org commit -qm two"})
	eventually(t, "the hook", func() bool { return exists(e, "ready") })
	copies := func() []string {
		found, err := filepath.Glob(filepath.Join(e.Dir, ".git", "pillion-*"))
		must(t, err)
		return found
	}
	if len(copies()) != 1 {
		t.Fatalf("copies: %q", copies())
	}
	must(t, e.Command.Process.Kill())
	testrig.Wait(t, failed, "the end of the call")
	eventually(t, "the end of the copy", func() bool { return len(copies()) == 0 })
	if exists(e, ".git/commondir") {
		t.Error("what a hook laid out was brought back")
	}
	if status := git("status", "--porcelain"); !strings.Contains(status, "M  a.txt") || git("log", "--format=%s") != "one\n" {
		t.Errorf("%q, %q", status, git("log", "--format=%s"))
	}
	git("fsck", "--strict")
}
