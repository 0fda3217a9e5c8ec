package machine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// parts are those that were asked for: to look whether one stands takes a second.
var parts struct {
	sync.Mutex // guards folders
	folders    map[string]string
}

// Part is the folder of a part of the tool chain (scripts/setup), which is made if
// need be: a test that needs one fails without it, and is not left out.
func Part(t testing.TB, name string) string {
	t.Helper()
	parts.Lock()
	defer parts.Unlock()
	if folder, ok := parts.folders[name]; ok {
		return folder
	}
	script := filepath.Join(project(t), "scripts/setup", name+".sh")
	out, err := exec.Command(script).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%s: %v\n%s", script, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	if parts.folders == nil {
		parts.folders = map[string]string{}
	}
	parts.folders[name] = strings.TrimSpace(string(out))
	return parts.folders[name]
}

// project is the project's folder: tests run in one below it.
func project(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("this test runs outside of the project")
		}
	}
}
