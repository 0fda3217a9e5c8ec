package machine

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Part is the folder of a part of the tool chain (scripts/setup), which is made if
// need be: a test that needs one fails without it, and is not left out.
func Part(t testing.TB, name string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "../../../scripts/setup", name+".sh")
	out, err := exec.CommandContext(t.Context(), script).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%s: %v\n%s", script, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
