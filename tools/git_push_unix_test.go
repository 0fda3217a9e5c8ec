//go:build unix

package tools_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
)

// TestWhatIsNotShownIsNotRun: a repository's settings run nothing that the dialog does
// not name. The naive call does.
func TestWhatIsNotShownIsNotRun(t *testing.T) {
	w := gitWorldAtHome(t)
	canary := w.script("../home/canary", `echo "$@" >>"$HOME/fired"; cat >/dev/null; exit 1`)
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.editor", "sequence.editor", "alias.commit", "alias.switch", "diff.external", "interactive.diffFilter"} {
		value := canary
		if strings.HasPrefix(key, "alias.") {
			value = "!" + canary
		}
		w.says("-c", "core.fsmonitor=false", "config", key, value)
	}
	w.write("a.txt", "two\n")
	for tool, args := range map[string]map[string]any{
		"git.commit": {"message": "two"},
		"git.branch": {"action": "create", "name": "x"},
	} {
		if got := w.gitTool(tool, args); !got.OK {
			t.Errorf("%s: %v", tool, got.Error)
		}
	}
	if got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "x"}); !got.OK {
		t.Errorf("%v", got.Error)
	}
	if w.exists("../home/fired") {
		t.Errorf("it fired: %s", read(t, w.path("../home/fired")))
	}
	cmd := exec.Command("git", "status")
	cmd.Dir = w.path(".")
	_ = cmd.Run() // it says what the canary made of it
	if !w.exists("../home/fired") {
		t.Error("the canary does not fire when git is run naively")
	}
}

// TestRemotesThatRunPrograms: whatever a remote's address comes from, nothing is run by
// it, and git itself refuses what we do not see.
func TestRemotesThatRunPrograms(t *testing.T) {
	fire := func(w *world) string {
		return "ext::" + w.script("../home/canary", `touch "$HOME/fired"; exit 1`) + " %S"
	}
	t.Setenv("PATH", os.Getenv("PATH"))
	for name, settings := range map[string]func(w *world) map[string]string{
		"url": func(w *world) map[string]string { return map[string]string{"remote.origin.url": fire(w)} },
		"pushurl": func(w *world) map[string]string {
			return map[string]string{"remote.origin.url": "/x", "remote.origin.pushurl": fire(w)}
		},
		"insteadOf": func(w *world) map[string]string {
			return map[string]string{"remote.origin.url": "https://example.invalid/x", "url." + fire(w) + ".insteadOf": "https://example.invalid/"}
		},
		"pushInsteadOf": func(w *world) map[string]string {
			return map[string]string{"remote.origin.url": "https://example.invalid/x", "url." + fire(w) + ".pushInsteadOf": "https://"}
		},
		"vcs": func(w *world) map[string]string {
			fire(w)
			w.helper("git-remote-canary")
			return map[string]string{"remote.origin.url": "x", "remote.origin.vcs": "canary"}
		},
		"helper": func(w *world) map[string]string {
			fire(w)
			w.helper("git-remote-canary")
			return map[string]string{"remote.origin.url": "canary::x"}
		},
		"scheme": func(w *world) map[string]string {
			fire(w)
			w.helper("git-remote-canary")
			return map[string]string{"remote.origin.url": "canary://x"}
		},
		"receivepack": func(w *world) map[string]string {
			fire(w)
			return map[string]string{"remote.origin.url": w.path("../bare.git"), "remote.origin.receivepack": w.path("../home/canary")}
		},
		"an include that we do not follow": func(w *world) map[string]string {
			w.write("../home/evil.inc", "[url \""+fire(w)+"\"]\n\tinsteadOf = https://example.invalid/\n")
			return map[string]string{"remote.origin.url": "https://example.invalid/x", "includeIf.hasconfig:remote.*.url:https://**.path": w.path("../home/evil.inc")}
		},
		"an include that sets a program": func(w *world) map[string]string {
			fire(w)
			w.write("../home/evil.inc", "[remote \"origin\"]\n\treceivepack = "+w.path("../home/canary")+"\n")
			return map[string]string{"remote.origin.url": w.path("../bare.git"), "includeIf.hasconfig:remote.*.url:**.path": w.path("../home/evil.inc")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := gitWorldAtHome(t)
			w.git("init -q --bare ../bare.git")
			for key, value := range settings(w) {
				w.says("config", key, value)
			}
			w.says("config", "protocol.allow", "always")
			got := w.gitTool("git.push", map[string]any{})
			if w.exists("../home/fired") {
				t.Errorf("it fired: %+v", got)
			}
			if !got.OK && got.Error.Code != fault.GitError {
				t.Errorf("%+v", got.Error)
			}
			cmd := exec.Command("git", "push", "origin", "main")
			cmd.Dir = w.path(".")
			out, _ := cmd.CombinedOutput()
			if !w.exists("../home/fired") && !got.OK {
				t.Errorf("the canary does not fire when git is run naively: %s", out)
			}
		})
	}
}

// helper puts a remote helper into PATH.
func (w *world) helper(name string) {
	w.write("../home/bin/"+name, "#!/bin/sh\ntouch \"$HOME/fired\"\nexit 1\n")
	w.must(os.Chmod(w.path("../home/bin/"+name), 0o755))
	w.must(os.Setenv("PATH", w.path("../home/bin")+":"+os.Getenv("PATH")))
}

func TestPushTellsNoPasswords(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.says("remote", "add", "origin", "http://me:hunter2@127.0.0.1:1/x.git")
	result := w.registry.Execute(t.Context(), tools.Call{Name: "git.push", Arguments: w.json(map[string]any{}), Session: w.session("s")})
	if result.Err == nil || strings.Contains(string(result.Structured), "hunter2") || !strings.Contains(string(result.Structured), "127.0.0.1") {
		t.Errorf("%s", result.Structured)
	}
}

// TestPushNamesItsSSH: the dialog names what git will run, of several settings the one that
// counts for git.
func TestPushNamesItsSSH(t *testing.T) {
	w := gitWorld(t)
	w.says("remote", "add", "origin", "git@example.org:x.git")
	for _, set := range []struct{ how, name string }{
		{"environment", "GIT_SSH"}, {"configuration", "core.sshCommand"}, {"environment", "GIT_SSH_COMMAND"},
	} {
		if set.how == "environment" {
			t.Setenv(set.name, "ssh by "+set.name)
		} else {
			w.says("config", set.name, "ssh by "+set.name)
		}
		if need := w.needs("git.push", map[string]any{}); need.Preview == nil || !strings.Contains(need.Preview.Markdown, ": ssh by "+set.name+"\n") {
			t.Errorf("%s: %+v", set.name, need.Preview)
		}
	}
}
