package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be listed may hold anything, and whoever owns it can open it again, or knows a name. To root nothing is closed.

// TestFoldersThatCommandsClose: what is protected in them stays so for the next command.
func TestFoldersThatCommandsClose(t *testing.T) {
	t.Parallel()
	for _, close := range []string{"chmod 311 .", "chmod 311 sub", "chmod 0 sub", "chmod 444 sub", "chmod 0 ../B", "chmod 311 ../B"} {
		t.Run(close, func(t *testing.T) {
			t.Parallel()
			o := allowed()
			e, sh := spawnAsNobody(t, o)
			other := filepath.Join(filepath.Dir(e.Dir), "B")
			sh(`for d in . sub ../B; do mkdir -p $d/lib $d/.vscode; git init -q $d/lib; echo {} >$d/.vscode/tasks.json; done
				echo 'chmod 755 . sub ../B; for d in . sub ../B; do for f in .vscode/tasks.json lib/.git/config lib/.git/hooks/x; do echo evil >>$d/$f; done; done' >x.sh`)
			folder := func(dir string) object { return object{"uri": "file://" + dir, "name": filepath.Base(dir)} }
			e.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{folder(other)}, "removed": []object{}}})
			for _, line := range []string{"true", close, "true", "sh x.sh"} { // the second starts the look that the last one may go by
				if r := e.Call("run_command", object{"command": line, "cwd": "work"}); r.StructuredContent["sandbox"] != "bubblewrap" {
					t.Fatalf("%s: %v", line, r)
				}
			}
			sh(`chmod 755 . sub ../B; ! grep -rl evil .vscode lib sub ../B`)
		})
	}
}

// TestSecretsInFoldersThatAreClosed: who knows their names gets to them.
func TestSecretsInFoldersThatAreClosed(t *testing.T) {
	t.Parallel()
	o := allowed()
	o.Settings = object{"commands": object{}}
	e, sh := spawnAsNobody(t, o)
	sh(`mkdir -p a/config; echo KEY >a/config/.env; chmod 311 a`)
	wantDecision(t, e, "run_command", object{"command": "ls -ld a"}, "run")
	if r := e.Call("run_command", object{"command": "ls -ld a"}); strings.Contains(fmt.Sprint(r), "d-wx--x--x") {
		t.Errorf("it is not hidden: %v", r)
	}
	sh(`chmod 755 a; chmod 311 .`)
	wantDecision(t, e, "run_command", object{"command": "grep -r '' a/config"}, "ask")
	sh(`chmod 755 .`)
}

// TestRepositoriesThatAreClosed: a link in one has git print lines of another file.
func TestRepositoriesThatAreClosed(t *testing.T) {
	t.Parallel()
	e, sh := spawnAsNobody(t, allowed())
	sh(`git init -q; git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x; echo KEY >../key`)
	for _, line := range []string{"ln -s ../../key .git/shallow; chmod 311 .git", "chmod 755 .git; rm .git/shallow; ln -s ../../../key .git/objects/info/alternates; chmod 311 .git/objects/info"} {
		sh(line)
		if r := e.Call("git.log", object{}); !r.IsError || !strings.Contains(fmt.Sprint(r), "cannot be listed") || strings.Contains(fmt.Sprint(r), "KEY") {
			t.Errorf("%s: %v", line, r)
		}
	}
}

// TestObjectsThatACommandCloses: no link is left in them for the user's next git to write through, and nothing by which it takes
// objects from elsewhere.
func TestObjectsThatACommandCloses(t *testing.T) {
	t.Parallel()
	e, sh := spawnAsNobody(t, allowed())
	sh(`git init -q; git config alias.x '!sh x.sh'; mkdir ../other`)
	run := func(lines string) {
		t.Helper()
		e.Write("x.sh", lines)
		if r := e.Call("run_command", object{"command": "git x"}); r.StructuredContent["exit_code"] != 0.0 {
			t.Fatal(r)
		}
	}
	for _, mode := range []string{"0", "311", "444", "555"} {
		run(`mkdir -p .git/objects/pack/in; ln -s ` + filepath.Dir(e.Dir) + `/other .git/objects/aa; ln -s ../../x .git/objects/pack/in/bb; chmod ` + mode + ` .git/objects/pack/in .git/objects`)
		run(`chmod 755 .git/objects .git/objects/pack/in`)
		sh(`! find .git/objects -type l | grep .`)
	}
	sh(`chmod 0 .git/objects`) // what another program left so
	e.Write("x.sh", "chmod 755 .git/objects; mkdir -p .git/objects/info; echo /x >.git/objects/info/alternates")
	e.Call("run_command", object{"command": "git x"})
	must(t, os.Chmod(filepath.Join(e.Dir, ".git/objects"), 0o755))
	sh(`! test -e .git/objects/info/alternates`)
}
