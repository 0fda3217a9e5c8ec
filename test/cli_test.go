package test

import (
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
