package machine

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
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
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "../../../scripts/setup", name+".sh")
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
