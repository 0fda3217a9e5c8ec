package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// TestCommandsRunUnaskedInALayer: in mode auto, with what they left brought out as one change that can be reverted, but for
// what would have to be asked about.
func TestCommandsRunUnaskedInALayer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	e := spawn(t, testrig.Options{Home: home, Settings: object{"mode": "auto"}})
	for name, text := range map[string]string{
		"a.py": "one\n", "gone.py": "gone\n", "old/x.py": "x\n", "touched.py": "same\n", ".env": "KEY=hunter2\n", ".vscode/tasks.json": "{}\n", "run.sh": "echo run\n", ".gitignore": "*.o\n",
	} {
		e.Write(name, text)
	}
	if err := os.Chmod(filepath.Join(e.Dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = e.Dir; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	line := strings.Join([]string{
		"echo two >a.py", "rm gone.py", "rm -r old", "touch touched.py", "mkdir -p new/deep", "echo n >new/deep/n.py", "mkdir empty", "ln -s a.py link", "printf '\\0\\1' >x.bin",
		"echo evil >.vscode/new.json", "mkdir sub", "echo evil >sub/.envrc", "echo evil >>run.sh", "sh -c 'cat .e*'",
	}, "; ")
	wantDecision(t, e, "run_command", object{"command": line}, "run")
	r := e.Call("run_command", object{"command": line})
	if r.StructuredContent["exit_code"] != 0.0 && fmt.Sprint(r.StructuredContent["exit_code"]) != "0" || strings.Contains(fmt.Sprint(r.StructuredContent["stdout"]), "hunter2") {
		t.Errorf("%v", r.StructuredContent)
	}
	t.Logf("%v", r.StructuredContent)
	t.Logf("%v", r.Content)
	out, _ := exec.Command("sh", "-c", "cd "+e.Dir+" && git status --porcelain && find . -path ./.git -prune -o -print | sort").CombinedOutput()
	t.Logf("%s", out)
}
