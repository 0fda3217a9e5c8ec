package test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pillion/internal/testrig"
	"pillion/workspace/document"
)

// TestCommandLine runs testdata/script against the whole program, each in a home
// of its own. Beside testscript's own commands there are
//
//	person FILE PROGRAM ARGS…   run it in a terminal, see person_linux_test.go
//	exits N PROGRAM ARGS…       run it; its exit status has to be N
//	nothing-left                no process runs in this home, no agent finds it
func TestCommandLine(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "pillion"))
	}
	must(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			e.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("PILLION_TEST_MAIN", "1")
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("TERM", "xterm")
			e.Setenv("NO_COLOR", "1")
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"person":       person,
			"nothing-left": nothingLeft,
			"exits":        exits,
		},
	})
}

// exits runs a program that fails in a certain way.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	var failed *exec.ExitError
	err := ts.Exec(args[1], args[2:]...)
	if !errors.As(err, &failed) || fmt.Sprint(failed.ExitCode()) != args[0] {
		ts.Fatalf("%v; want exit status %s", err, args[0])
	}
}

// nothingLeft waits for the last process of the script's home to end, and looks
// for what agents would find.
func nothingLeft(ts *testscript.TestScript, _ bool, _ []string) {
	home := ts.Getenv("HOME")
	entries, err := os.ReadDir(filepath.Join(home, ".local", "state", "pillion", "relay"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Fatalf("the registry cannot be read: %v", err)
	}
	for _, e := range entries {
		ts.Fatalf("left in the registry: %s", e.Name())
	}
	deadline := time.Now().Add(testrig.Patience)
	for tick := time.Tick(5 * time.Millisecond); len(processesIn(home)) > 0; <-tick {
		if time.Now().After(deadline) {
			ts.Fatalf("still running: %q", processesIn(home))
		}
	}
}

// processesIn are the command lines of the processes that have this home.
func processesIn(home string) []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*") //nolint:errcheck // the pattern is right
	for _, dir := range dirs {
		environment, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !slices.Contains(strings.Split(string(environment), "\x00"), "HOME="+home) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) //nolint:errcheck // it has ended meanwhile
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// TestACallThroughTheEditor sees its unsaved text and asks in it, as an agent's does.
func TestACallThroughTheEditor(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Type("app.py", document.Range{}, "# unsaved\n")
	e.Call("read_file", object{"path": "app.py"}) // which comes behind what was typed; the calls below come another way
	call := func(args ...string) (out string, err error) {
		command := commandOf(e, append([]string{"call", "--editor"}, args...)...)
		var printed bytes.Buffer
		command.Stdout, command.Stderr = &printed, &printed
		err = command.Run()
		return printed.String(), err
	}
	if out, err := call("read_file", `{"path": "app.py"}`); err != nil || !strings.Contains(out, "# unsaved\n") {
		t.Errorf("%v: %s", err, out)
	}
	done := make(chan error, 1)
	go func() { _, err := call("write_file", `{"path": "new.txt", "content": "x"}`); done <- err }()
	a := testrig.Wait(t, e.Approvals, "the editor's dialog")
	if name := a.Params["agent"].(map[string]any)["name"]; name != "pillion call" {
		t.Errorf("%v asks", name)
	}
	a.Answer <- object{"decision": "approve"}
	if err := testrig.Wait(t, done, "the call"); err != nil || e.Read("new.txt") != "x" {
		t.Errorf("%v: new.txt has %q", err, e.Read("new.txt"))
	}
	if out, err := call("-C", t.TempDir(), "read_file", `{"path": "app.py"}`); err == nil || !strings.Contains(out, "no editor") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := call("--yes", "list_files"); err == nil {
		t.Errorf("--yes answers in the editor: %s", out)
	}
}
