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

// TestWhatOnlyReadsRunsUnasked: in the box, where it writes nothing, reaches nothing and sees no secrets.
func TestWhatOnlyReadsRunsUnasked(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, filepath.Join(home, ".ssh/id_rsa"), "the key\n")
	put(t, filepath.Join(home, ".config/tool/token"), "the token\n")
	put(t, filepath.Join(home, ".shown/note"), "a note\n")
	e := spawn(t, testrig.Options{Home: home, Settings: object{"commands": object{}, "box": object{"home": []string{"~/.shown"}}}})
	if level, _ := e.Call("run_command", object{"command": "true"}).StructuredContent["sandbox"].(string); level != "bubblewrap" {
		t.Fatalf("the sandbox is %q: install bubblewrap", level)
	}
	for name, text := range map[string]string{
		"a.py": "import os\n", "b.py": "KEY = 1\n", "sub/.env": "KEY=hunter2\n", ".env": "KEY=hunter2\n", "web/app.pem": "KEY\n", "notes.txt": "KEY\n", "node_modules/x/.npmrc": "KEY\n", ".gitignore": "node_modules\n.env\n",
		"bare/objects/x": "KEY", "bare/HEAD": "", "bare/refs/x": "",
		"gomod/go.mod": "module x\n", "gomod/main.go": "package main\n", "punct/--pre=sh": "", "punct/é": "", "punct/.x": "",
	} {
		e.Write(name, text)
	}
	for link, target := range map[string]string{"keys": filepath.Join(home, ".ssh"), "innocent.txt": ".env", "home": home} {
		if err := os.Symlink(target, filepath.Join(e.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = e.Dir; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	for line, want := range map[string]string{
		"grep -rn KEY . | sort":                         "./b.py:1:KEY = 1\n./notes.txt:1:KEY\n",
		"for f in *.py; do cat \"$f\"; done":            "import os\nKEY = 1\n",
		"cd sub && ls -A && wc -c <../b.py":             ".env\n8\n",
		"git log --format=%s && git branch":             "first\n* master\n",
		"find . -name '*.py' | sort | head -1; ls *.py": "./a.py\na.py\nb.py\n",
		// What git keeps of a secret is not there for other programs.
		"cd gomod && go list ./...":             "x\n", // without asking git, which would run what the repository names
		"ls -A .git/objects bare/objects":       ".git/objects:\n\nbare/objects:\n",
		"sed -n 1p a.py; awk '{print $1}' b.py": "import os\nKEY\n",
	} {
		wantDecision(t, e, "run_command", object{"command": line}, "run")
		if t.Failed() {
			continue
		}
		r := e.Call("run_command", object{"command": line})
		if got := r.StructuredContent["stdout"]; got != want {
			t.Errorf("%s: %q (%v)", line, got, r.StructuredContent)
		}
	}
	if r := e.Call("run_command", object{"command": "true"}); !strings.Contains(fmt.Sprint(r.Content), "files that may hold secrets looked empty to it: ") {
		t.Errorf("the agent is not told what was hidden: %v", r.Content)
	}
	e.Write("late/.env.local", "KEY=late\n")
	if r := e.Call("run_command", object{"command": "grep -rc late late"}); r.StructuredContent["stdout"] != "late/.env.local:0\n" {
		t.Errorf("a secret that came later: %v", r.StructuredContent)
	}
	for _, line := range []string{
		"cat .env", "cat innocent.txt", "cat i*.txt", "cat keys/id_rsa", "ls home", "ls ~/.shown", "cat sub/../.env", "cd sub && cat .env", "cat innocen[[:lower:]].txt", "cd punct && rg KEY [[:punct:]]* ../a.py", "cd punct && cat ??", "cd punct && ls .*", "cd nope; ls", "cd a.py; ls", "git ls-files -s; cat .git/objects/x", "touch x", "ls >x", "python3 -c 1", "sh x.sh", "curl example.org", "git add .", "ls; touch x",
	} {
		wantDecision(t, e, "run_command", object{"command": line}, "ask")
	}
	// A plan is made of what can be read.
	e.Must("session/setMode", object{"mode": "plan"}, nil)
	if r := e.Call("run_command", object{"command": "ls *.py"}); r.StructuredContent["stdout"] != "a.py\nb.py\n" {
		t.Errorf("in plan mode: %v", r.StructuredContent)
	}
}

// TestALinkedWorkTreeIsReadInTheBox: though its repository is elsewhere, which nothing but git sees.
func TestALinkedWorkTreeIsReadInTheBox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	put(t, filepath.Join(dir, "main/a.txt"), "text\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}, {"worktree", "add", "-q", tree}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = filepath.Join(dir, "main"); git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	e := spawn(t, testrig.Options{Dirs: []string{tree}, Settings: object{"commands": object{}}})
	if r := e.Call("run_command", object{"command": "git log --format=%s && ls"}); r.StructuredContent["stdout"] != "first\na.txt\n" {
		t.Errorf("%v", r.StructuredContent)
	}
}
