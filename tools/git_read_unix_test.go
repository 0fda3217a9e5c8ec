//go:build unix

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/tools"
	"pillion/tools/policy"
)

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
