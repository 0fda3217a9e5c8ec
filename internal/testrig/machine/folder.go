package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Must ends the test at an error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Folder is a folder in which a test works. Names are below it, with slashes.
type Folder struct {
	testing.TB
	Dir string
}

// NewFolder is one of the test's own, by a name of which no part is a link.
func NewFolder(t testing.TB) Folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	Must(t, err)
	return Folder{t, dir}
}

// Must ends the test at an error.
func (f Folder) Must(errs ...error) {
	f.Helper()
	Must(f.TB, errs...)
}

// Abs is the name of an entry as the system takes it.
func (f Folder) Abs(name string) string { return filepath.Join(f.Dir, filepath.FromSlash(name)) }

// Write writes a file, and makes the folders above it.
func (f Folder) Write(name, text string) {
	f.Helper()
	f.Must(os.MkdirAll(filepath.Dir(f.Abs(name)), 0o755))
	f.Must(os.WriteFile(f.Abs(name), []byte(text), 0o644))
}

// Remove removes what has the name, and all that is in it.
func (f Folder) Remove(name string) {
	f.Helper()
	_, err := os.Lstat(f.Abs(name))
	f.Must(err)
	f.Must(os.RemoveAll(f.Abs(name)))
}

// Link makes a symbolic link that leads to target.
func (f Folder) Link(target, name string) {
	f.Helper()
	f.Must(os.Symlink(target, f.Abs(name)))
}

// Git runs git in a folder, without anybody's settings, and gives what it prints. Its error has
// what git says of it.
func Git(t testing.TB, dir, input string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	} else if err != nil {
		t.Fatalf("these tests compare with the real git: %v", err)
	}
	return string(out), err
}
