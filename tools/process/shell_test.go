//go:build unix

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandsSeeACleanEnvironment(t *testing.T) {
	for _, name := range []string{"NVIM", "VSCODE_IPC_HOOK_CLI", "PILLION_TOKEN", "SSH_AUTH_SOCK", "DISPLAY", "GIT_DIR", "SOME_TOKEN"} {
		t.Setenv(name, "leak")
	}
	t.Setenv("HOME", t.TempDir()) // no profile of the developer's
	r := newRunner(t)
	dir := t.TempDir()
	out := run(t, r, Spec{Command: "env", Dir: dir, Env: map[string]string{"GIVEN": "a b=c", "PAGER": "mine"}}).Stdout
	if strings.Contains(out, "leak") {
		t.Errorf("leaked:\n%s", out)
	}
	for _, want := range []string{"GIVEN=a b=c", "PAGER=mine", "TERM=dumb", "NO_COLOR=1", "PWD=" + dir, "HOME=" + os.Getenv("HOME")} {
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("%s is missing in:\n%s", want, out)
		}
	}
}

// A profile that replaces PATH must not hide the tools that the editor finds.
func TestEditorsPathComesFirst(t *testing.T) {
	home, bin := t.TempDir(), filepath.Join(t.TempDir(), "it's $HOME *")
	must(t, os.MkdirAll(bin, 0o700))
	must(t, os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\necho found\n"), 0o700))
	ours := bin + ":/usr/bin:/bin"
	t.Setenv("HOME", home)
	t.Setenv("PATH", ours)
	r := newRunner(t)
	for profile, want := range map[string]string{
		"PATH=/usr/bin:/bin:/profile":          ours + ":/usr/bin:/bin:/profile",
		"PATH=/profile:" + quote(ours):         "/profile:" + ours,
		"PATH=" + quote(ours) + "; FROM=login": ours,
	} {
		must(t, os.WriteFile(filepath.Join(home, ".profile"), []byte(profile+"\n"), 0o600))
		if got := run(t, r, Spec{Command: `tool; echo "$PATH"`}).Stdout; got != "found\n"+want+"\n" {
			t.Errorf("profile %q: %q, want PATH %q", profile, got, want)
		}
	}
}

func TestLineNumbersStay(t *testing.T) {
	r := newRunner(t)
	if got := run(t, r, Spec{Command: "true\nno-such-program"}).Stderr; !strings.Contains(got, "2: ") {
		t.Errorf("%q", got)
	}
}
