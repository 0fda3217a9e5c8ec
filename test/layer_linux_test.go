package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// inAuto is an editor with a session in mode auto, in a repository with these files.
func inAuto(t *testing.T, files map[string]string) *testrig.Editor {
	t.Helper()
	e := spawn(t, testrig.Options{Home: t.TempDir(), Settings: object{"mode": "auto"}})
	for name, text := range files {
		e.Write(name, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = e.Dir; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	return e
}

// notBrought are the paths that a result says were left as they were.
func notBrought(r testrig.Result) string {
	var out []string
	all, _ := r.StructuredContent["not_brought"].([]any)
	for _, one := range all {
		out = append(out, one.(map[string]any)["path"].(string))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestCommandsRunUnaskedInALayer: in mode auto, with what they left brought out as one change that can be reverted, but for
// what would have to be asked about.
func TestCommandsRunUnaskedInALayer(t *testing.T) {
	t.Parallel()
	e := inAuto(t, map[string]string{
		"a.py": "one\n", "gone.py": "gone\n", "old/x.py": "x\n", "touched.py": "same\n", ".env": "KEY=hunter2\n", ".vscode/tasks.json": "{}\n", "run.sh": "echo run\n", ".gitignore": "*.o\nnode_modules\ntarget\n", "node_modules/x/a.js": "x\n",
		"evil.sh": "mkdir -p sub web/.vscode; echo evil >sub/.envrc; echo evil >web/.vscode/tasks.json; echo evil >>run.sh; echo evil >.vscode/tasks.json; git commit -qam evil; ln -s /etc/passwd out; cat .e*; echo done\n",
	})
	if err := os.Chmod(filepath.Join(e.Dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, e.Dir)
	line := "echo two >a.py; rm gone.py; rm -r old; touch touched.py; mkdir -p new/deep empty; echo n >new/deep/n.py; ln -s a.py link; printf '\\0\\1' >x.bin; echo o >x.o; chmod +x x.o; echo two >node_modules/x/a.js; mkdir target; echo t >target/t; sh evil.sh"
	wantDecision(t, e, "run_command", object{"command": line}, "run")
	r := e.Call("run_command", object{"command": line})
	if out := fmt.Sprint(r.StructuredContent["stdout"]); out != "done\n" {
		t.Errorf("it printed %q: %v", out, r.StructuredContent)
	}
	check.Same(t, "as before are", notBrought(r), "out run.sh sub/.envrc target web/.vscode")
	for name, want := range map[string]string{
		"a.py": "two\n", "new/deep/n.py": "n\n", "x.bin": "\x00\x01", "link": "two\n", "x.o": "o\n", "node_modules/x/a.js": "two\n", "target/t": "", "run.sh": "echo run\n", ".vscode/tasks.json": "{}\n", "touched.py": "same\n",
	} {
		check.Same(t, name, e.Read(name), want)
	}
	for name, want := range map[string]bool{"empty": true, "target": true, "gone.py": false, "old": false, "sub": false, "web": false, "out": false} {
		if _, err := os.Lstat(filepath.Join(e.Dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	if r := revert(e, object{"callId": entries(e, object{})[0]["callId"]}); len(r.Conflicts) > 0 {
		t.Errorf("%+v", r)
	}
	check.Same(t, "reverted", treeOf(t, e.Dir), before)
	check.Same(t, "a.py, reverted", e.Read("a.py"), "one\n")
}

// TestWhatAutoAsks: what the box cannot hold, or would show wrongly.
func TestWhatAutoAsks(t *testing.T) {
	t.Parallel()
	e := inAuto(t, map[string]string{"a.py": "one\n", ".env": "KEY=hunter2\n", "x.sh": "echo x\n"})
	for _, line := range []string{"python3 -c 1", "make", "sh x.sh; echo y >a.py", "rm -r a.py", "cat a.py > b.py && sed -i s/o/u/ b.py"} {
		wantDecision(t, e, "run_command", object{"command": line}, "run")
	}
	for _, line := range []string{"cat .env", "python3 x.py .env", "cp a.py /tmp/../etc/x", "cat /etc/passwd; touch y", "git commit -qam x", "git add .", "rm .envrc", "echo x >.vscode/tasks.json"} {
		wantDecision(t, e, "run_command", object{"command": line}, "ask")
	}
	wantDecision(t, e, "run_command", object{"command": "touch y", "network": []string{"example.org"}}, "ask")
	wantDecision(t, e, "run_command", object{"command": "touch y", "background_after": 5}, "ask")
	wantDecision(t, e, "run_persistent", object{"command": "touch y", "process_id": "p"}, "ask")
	wantDecision(t, e, "write_file", object{"path": "b.py", "content": "x\n"}, "run")
	e.Write("a.py", "two\n")
	wantDecision(t, e, "git.commit", object{"message": "x", "files": []string{"a.py"}}, "ask")
}

// TestWhatOthersChangedMeanwhileStays, and the command's is left out.
func TestWhatOthersChangedMeanwhileStays(t *testing.T) {
	t.Parallel()
	e := inAuto(t, map[string]string{"mine.py": "one\n", "free.py": "one\n", "typed.py": "a\nb\nc\nd\ne\n", "go.txt": "wait\n", "dir/a.py": "one\n", "dir/b.py": "one\n"})
	e.Open("typed.py")
	e.Type("typed.py", at(4, 0), "mine ")
	started := make(chan struct{})
	var once sync.Once
	e.OnNotice(func(_ string, params json.RawMessage) {
		if strings.Contains(string(params), "it began") {
			once.Do(func() { close(started) })
		}
	})
	done := e.Start("run_command", object{"command": "echo it began; until grep -q go go.txt; do sleep 0.01; done; sed -i s/a/theirs/ typed.py; echo theirs >mine.py; echo theirs >free.py; rm -r dir"})
	testrig.Wait(t, started, "the command's first words")
	e.Write("mine.py", "mine\n")
	e.Write("dir/b.py", "mine\n")
	e.Write("go.txt", "go\n")
	r := testrig.Wait(t, done, "the result")
	check.Same(t, "as before are", notBrought(r), "dir mine.py")
	check.Same(t, "mine.py", e.Read("mine.py"), "mine\n")
	check.Same(t, "free.py", e.Read("free.py"), "theirs\n")
	check.Same(t, "dir/b.py", e.Read("dir/b.py"), "mine\n")
	check.Same(t, "what was typed", e.Buffer("typed.py").Text, "theirs\nb\nc\nd\nmine e\n")
}

// TestAutoSaysWhereCommandsAsk, when it is chosen and when it is a setting.
func TestAutoSaysWhereCommandsAsk(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, home+"/.local/state/pillion/layers", "a file, where the folder of layers would be")
	const why = "In mode auto, commands ask here as in auto_edit: no layer can be mounted over the workspace ("
	set := spawn(t, testrig.Options{Home: home, Settings: object{"mode": "auto"}})
	check.Has(t, "what is shown at the start", testrig.Wait(t, set.Logs, "window/logMessage"), why)
	wantDecision(t, set, "run_command", object{"command": "touch y"}, "ask")

	chosen := spawn(t, testrig.Options{Home: home})
	chosen.Must("session/setMode", object{"mode": "auto"}, nil)
	check.Has(t, "what is shown then", testrig.Wait(t, chosen.Logs, "window/logMessage"), why)
}

// TestAStoppedCommandChangesNothing: what it wrote until then is left in its layer.
func TestAStoppedCommandChangesNothing(t *testing.T) {
	t.Parallel()
	e := inAuto(t, map[string]string{"a.py": "one\n"})
	started := make(chan struct{})
	var once sync.Once
	e.OnNotice(func(_ string, params json.RawMessage) {
		if strings.Contains(string(params), "it began") {
			once.Do(func() { close(started) })
		}
	})
	done := e.Start("run_command", object{"command": "echo two >a.py; echo new >b.py; echo it began; sleep 999"})
	testrig.Wait(t, started, "the command's first words")
	e.Must("session/pause", object{}, nil)
	check.Same(t, "the result is an error", testrig.Wait(t, done, "the result").IsError, true)
	check.Same(t, "a.py", e.Read("a.py"), "one\n")
	if _, err := os.Stat(filepath.Join(e.Dir, "b.py")); err == nil {
		t.Error("b.py is there")
	}
}
