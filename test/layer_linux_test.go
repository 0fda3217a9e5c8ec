package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// inAuto is an editor with a session in mode auto, in a repository with these files.
func inAuto(t *testing.T, files map[string]string) *testrig.Editor {
	t.Helper()
	return inAutoWith(t, testrig.Options{Home: t.TempDir()}, object{}, files)
}

// inAutoWith is that with more settings.
func inAutoWith(t *testing.T, o testrig.Options, settings object, files map[string]string) *testrig.Editor {
	t.Helper()
	settings["mode"] = "auto"
	o.Settings = settings
	e := spawn(t, o)
	for name, text := range files {
		e.Write(name, text)
	}
	commitAll(t, e.Dir)
	return e
}

// commitAll makes a repository of a folder.
func commitAll(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = dir; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
}

// TestWhatGoesIsJudgedByAllThatIsInIt, and by the rules of the folder that it lies in.
func TestWhatGoesIsJudgedByAllThatIsInIt(t *testing.T) {
	t.Parallel()
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	must(t, os.Mkdir(one, 0o700))
	must(t, os.Mkdir(two, 0o700))
	e := inAutoWith(t, testrig.Options{Home: t.TempDir(), Dirs: []string{one, two}},
		object{"permissions": object{"deny": []string{"edit_file(one/keep/**)", "delete_file(one/d/**)"}}}, map[string]string{
			"keep/a": "a\n", "d/f": "f\n", "ro/x": "x\n", "run/run": "x\n", "free/x": "x\n", ".gitignore": "ign\nmade\n", "ign/deep/.husky/pre-commit": "x\n", "made/program": "x\n",
			"theirs/x": "x\n", ".pillion/settings.json": `{"permissions": {"deny": ["edit_file(theirs/**)"]}}`,
		})
	must(t, os.Chmod(filepath.Join(e.Dir, "ro/x"), 0o444))
	must(t, os.Chmod(filepath.Join(e.Dir, "run/run"), 0o755))
	must(t, os.Chmod(filepath.Join(e.Dir, "made/program"), 0o755))
	r := e.Call("run_command", object{"command": "echo x >>theirs/x; rm -rf keep d ro run free ign made", "cwd": "one"})
	check.Same(t, "as before are", notBrought(r), "one/d one/ign one/keep one/ro one/run one/theirs/x")
	for name, want := range map[string]bool{"keep/a": true, "d/f": true, "ro/x": true, "run/run": true, "ign/deep/.husky/pre-commit": true, "free": false, "made": false} {
		if _, err := os.Lstat(filepath.Join(e.Dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	e.Write("ign/cloned/f", "work\n") // a moment ago, so nobody has looked
	commitAll(t, filepath.Join(e.Dir, "ign/cloned"))
	check.Has(t, "as before are", notBrought(e.Call("run_command", object{"command": "rm -rf ign", "cwd": "one"})), "one/ign/cloned/.git/HEAD")
}

// TestWhatBuildsMakeIsMovedIn: without the journal, but for what is protected, ruled, tracked or of a repository, and no other name of
// a file is written to.
func TestWhatBuildsMakeIsMovedIn(t *testing.T) {
	t.Parallel()
	e := inAutoWith(t, testrig.Options{Home: t.TempDir()}, object{"permissions": object{"deny": []string{"edit_file(dist/**)"}}}, map[string]string{
		".gitignore": "node_modules\nbuild\ndist\n.venv\n", "bin/tool": "x\n", "build/old/a/b": "x\n", "build/keep/.vscode/x": "x\n", "dist/keep.js": "x\n", "build/dep/f": "work\n", "node_modules/p/mod.py": "good\n", "node_modules/.bin/run": "one\n", "build/kind": "file\n",
	})
	store := filepath.Join(t.TempDir(), "mod.py")
	must(t, os.Link(filepath.Join(e.Dir, "node_modules/p/mod.py"), store))
	must(t, os.Chmod(filepath.Join(e.Dir, "bin/tool"), 0o755))
	must(t, os.Chmod(filepath.Join(e.Dir, "node_modules/.bin/run"), 0o755))
	e.Write(".gitignore", "node_modules\nbuild\ndist\n.venv\nbin\n")
	r := e.Call("run_command", object{"command": "sh", "stdin": "echo evil >>bin/tool; echo evil >>dist/keep.js; echo two >node_modules/p/mod.py; echo two >node_modules/.bin/run; rm -rf build/old build/keep build/kind; mkdir -p build/kind build/.vscode build/new; " +
		"echo k >build/kind/k; echo {} >build/.vscode/tasks.json; git init -q build/new; umask 077; echo s >build/private; ln build/private build/second; mkfifo build/pipe; ln -s ../../x build/out; " +
		"mkdir -p .venv/bin; ln -s /bin/sh .venv/bin/python"})
	check.Same(t, "as before are", notBrought(r), "bin/tool build/.vscode build/keep/.vscode build/keep/.vscode/x build/new/.git build/out build/pipe dist/keep.js")
	for name, want := range map[string]string{"bin/tool": "x\n", "dist/keep.js": "x\n", "node_modules/p/mod.py": "two\n", "node_modules/.bin/run": "two\n", "build/kind/k": "k\n", "build/keep/.vscode/x": "x\n", "build/second": "s\n"} {
		check.Same(t, name, e.Read(name), want)
	}
	text, err := os.ReadFile(store)
	must(t, err)
	check.Same(t, "the other name of mod.py", string(text), "good\n")
	for name, want := range map[string]bool{"build/old": false, "build/new": false, "build/.vscode": false, ".venv/bin/python": true} {
		if _, err := os.Lstat(filepath.Join(e.Dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %t", name, !want)
		}
	}
	info, err := os.Stat(filepath.Join(e.Dir, "build/private"))
	must(t, err)
	check.Same(t, "the rights of build/private", info.Mode().Perm(), 0o600)
	check.Same(t, "kept in the journal", len(entries(e, object{})), 0)
	commitAll(t, filepath.Join(e.Dir, "build/dep")) // since the last look for such
	check.Has(t, "as before are", notBrought(e.Call("run_command", object{"command": "mv build/dep build/dep9; rm -rf build/dep9"})), "build/dep")
	if _, err := os.Lstat(filepath.Join(e.Dir, "build/dep/.git/HEAD")); err != nil {
		t.Error(err)
	}
}

// TestWhatAutoNeedsToBringOut: the journal, whatever is set, and the mode that it was.
func TestWhatAutoNeedsToBringOut(t *testing.T) {
	t.Parallel()
	e := inAutoWith(t, testrig.Options{Home: t.TempDir()}, object{"journal": object{"mode": "prefer", "maxBytes": 1_000_000}}, map[string]string{"a": "a\n", "go.txt": "wait\n", "hk/.keep": "", "l/x": ""})
	e.Write("big", strings.Repeat("x", 2_000_000))
	check.Same(t, "as before is", notBrought(e.Call("run_command", object{"command": "rm big"})), ".")
	check.Same(t, "big", len(e.Read("big")), 2_000_000)

	r := e.Call("run_command", object{"command": "sh", "stdin": "umask 077; echo key >private; ln -s . l2; ln -s l2/../outside l1; ln -s ../a l/a"})
	check.Same(t, "as before is", notBrought(r), "l1")
	info, err := os.Stat(filepath.Join(e.Dir, "private"))
	must(t, err)
	check.Same(t, "the rights of private", info.Mode().Perm(), 0o600)

	git := exec.CommandContext(t.Context(), "git", "config", "core.hooksPath", "hk")
	git.Dir = filepath.Join(e.Dir, "sub")
	e.Write("sub/hk/.keep", "")
	commitAll(t, git.Dir)
	must(t, git.Run())
	check.Same(t, "as before is", notBrought(e.Call("run_command", object{"command": "cd sub; echo evil >hk/post-checkout"})), "sub/hk/post-checkout")

	done := startBegun(t, e, "echo begun; until grep -q go go.txt; do sleep 0.01; done; echo x >a")
	e.Must("session/setMode", object{"mode": "plan"}, nil)
	e.Write("go.txt", "go\n")
	check.Same(t, "as before is", notBrought(testrig.Wait(t, done, "the result")), ".")
	check.Same(t, "a", e.Read("a"), "a\n")
}

// startBegun has the editor run a command, and gives what comes of it once it has printed "begun".
func startBegun(t *testing.T, e *testrig.Editor, line string) <-chan testrig.Result {
	t.Helper()
	out := make(chan testrig.Result, 1)
	go func() {
		var r testrig.Result
		if err := e.Conn.Call(t.Context(), "tools/call", object{"name": "run_command", "arguments": object{"command": line}, "workDoneToken": "token"}, &r); err != nil {
			t.Error(err)
		}
		out <- r
	}()
	for !strings.Contains(string(testrig.Wait(t, e.Progress, "the command's first words")), "begun") {
	}
	return out
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
		"evil.sh": "mkdir -p sub web/.vscode; echo evil >sub/.envrc; echo evil >web/.vscode/tasks.json; echo evil >>run.sh; echo evil >.vscode/tasks.json; git commit -qam evil; ln -s /etc/passwd out; cat .e*; git show HEAD:.env; echo done\n",
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
	check.Same(t, "as before are", notBrought(r), "out run.sh sub/.envrc web/.vscode")
	for name, want := range map[string]string{
		"a.py": "two\n", "new/deep/n.py": "n\n", "x.bin": "\x00\x01", "link": "two\n", "x.o": "o\n", "node_modules/x/a.js": "two\n", "target/t": "t\n", "run.sh": "echo run\n", ".vscode/tasks.json": "{}\n", "touched.py": "same\n",
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
	if err := os.RemoveAll(filepath.Join(e.Dir, "target")); err != nil { // which the journal does not have
		t.Fatal(err)
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
	e := inAuto(t, map[string]string{"mine.py": "one\n", "free.py": "one\n", "typed.py": "a\nb\nc\nd\ne\n", "go.txt": "wait\n", "dir/a.py": "one\n", "dir/b.py": "one\n", "was/x": "old\n", "other/x": "newer\n", "gone": "x\n", "moved/y": "y\n"})
	e.Open("typed.py")
	e.Type("typed.py", at(4, 0), "mine ")
	done := startBegun(t, e, "echo theirs >>was/x; echo theirs >>gone; echo theirs >>moved/y; echo theirs >was/new; echo begun; until grep -q go go.txt; do sleep 0.01; done; sed -i s/a/theirs/ typed.py; echo theirs >mine.py; echo theirs >free.py; rm -r dir")
	e.Write("mine.py", "mine\n")
	e.Write("dir/b.py", "mine\n")
	for _, names := range [][2]string{{"was", "away"}, {"other", "was"}, {"moved", "mine"}, {"gone", "kept"}} {
		must(t, os.Rename(filepath.Join(e.Dir, names[0]), filepath.Join(e.Dir, names[1])))
	}
	e.Write("go.txt", "go\n")
	r := testrig.Wait(t, done, "the result")
	check.Same(t, "as before are", notBrought(r), "dir gone mine.py moved was/new was/x")
	check.Same(t, "was/x", e.Read("was/x"), "newer\n")
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
	draft := spawn(t, testrig.Options{Home: home, Settings: object{"mode": "draft"}})
	check.Has(t, "what is shown at the start", testrig.Wait(t, draft.Logs, "window/logMessage"), "In mode draft, agents can do nothing here: no layer can be mounted")
	check.Has(t, "a call", draft.Call("write_file", object{"path": "y", "content": "y"}).Text(), "no draft can be made here")
	draft.Refuses("session/setMode", object{"sessionId": "x", "mode": "draft"}, -32602)

	chosen := spawn(t, testrig.Options{Home: home})
	chosen.Must("session/setMode", object{"mode": "auto"}, nil)
	check.Has(t, "what is shown then", testrig.Wait(t, chosen.Logs, "window/logMessage"), why)
}

// TestAStoppedCommandChangesNothing: what it wrote until then is left in its layer.
func TestAStoppedCommandChangesNothing(t *testing.T) {
	t.Parallel()
	e := inAuto(t, map[string]string{"a.py": "one\n"})
	done := startBegun(t, e, "echo two >a.py; echo new >b.py; echo begun; sleep 999")
	e.Must("session/pause", object{}, nil)
	check.Same(t, "the result is an error", testrig.Wait(t, done, "the result").IsError, true)
	check.Same(t, "a.py", e.Read("a.py"), "one\n")
	if _, err := os.Stat(filepath.Join(e.Dir, "b.py")); err == nil {
		t.Error("b.py is there")
	}
}
