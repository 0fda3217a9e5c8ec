//go:build unix

package tools_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
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

// TestWhatWasShownIsPushed, wherever the branch is by the time git starts, and the branch follows it.
func TestWhatWasShownIsPushed(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.says("init", "-q", "--bare", "../remote")
	w.says("remote", "add", "origin", w.path("../remote"))
	w.branch("other", `write a.txt "two\n"`)
	w.script("../bin/git", `case "$*" in *" push "*) git update-ref refs/heads/main other ;; esac; exec `+lookPath(t, "git")+` "$@"`)
	w.registry.LookPath = func(string) (string, error) { return w.path("../bin/git"), nil }
	shown := w.says("rev-parse", "main")
	got := w.gitTool("git.push", map[string]any{"set_upstream": true})
	if now := w.says("--git-dir=../remote", "rev-parse", "main"); !got.OK || got.New != shown || now != shown || w.says("rev-parse", "main") == shown {
		t.Errorf("%+v, %v; the remote has %s, and shown was %s", got, got.Error, now, shown)
	}
	if follows := w.says("rev-parse", "--abbrev-ref", "main@{upstream}"); follows != "origin/main" {
		t.Errorf("it follows %q", follows)
	}
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

// TestALineThatOnlyReadsRunsNothingOfTheRepository: what a rule lets run runs nothing that
// nobody was asked about; what the user approves is git as they know it.
func TestALineThatOnlyReadsRunsNothingOfTheRepository(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	evil := w.script("evil", ">"+w.path("mark")+"\ncat")
	w.write(".gitattributes", "a.txt filter=e diff=e\n")
	w.write("a.txt", "two\n")
	w.config("core.fsmonitor", evil, "diff.external", evil, "filter.e.clean", evil, "diff.e.textconv", evil)
	ran := func() bool { return os.Remove(w.path("mark")) == nil }
	lines := []string{"git status --short", "git diff a.txt | head", "git log -p -1", "git blame a.txt"}
	for _, line := range lines {
		if got := w.run("run_command", line, nil); got.ExitCode != 0 && !strings.Contains(line, "diff") {
			t.Errorf("approved, %s: %+v", line, got)
		}
	}
	if !ran() {
		t.Error("git does not run the program when it is approved: this shows nothing")
	}
	w.do("allow read_only_commands")
	for _, line := range lines {
		if need := w.need(line); need.Verdict != policy.Run {
			t.Fatalf("%s: %+v", line, need)
		}
		if got := w.run("run_command", line, nil); got.ExitCode != 0 || got.Stdout == "" || got.Stderr != "" {
			t.Errorf("%s: %+v", line, got)
		}
		if ran() {
			t.Errorf("%s runs the program", line)
		}
	}
	if got := w.run("run_persistent", lines[0], map[string]any{"process_id": "p", "ready_pattern": "a.txt"}); !got.OK || ran() {
		t.Errorf("%+v", got)
	}
}

// TestGitIsNotReadByAProgramOfTheWorkspace: where this program is one, commands can change it.
func TestGitIsNotReadByAProgramOfTheWorkspace(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	w := newWorld(t)
	w.must(err)
	w.must(os.Remove(w.path(".")))
	w.must(os.Symlink(filepath.Dir(own), w.path(".")))
	w.start()
	w.do("allow read_only_commands")
	if need := w.need("git status"); need.Verdict != policy.Ask {
		t.Errorf("%+v", need)
	}
	if need := w.need("ls"); need.Verdict != policy.Run {
		t.Errorf("%+v", need)
	}
}
