//go:build unix

package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFolderOfOthersIsRefused with a sentence that says what to do.
func TestAFolderOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "pillion")
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { return nil }, ""},
		{func() error { return os.Mkdir(folder, 0o700) }, ""},
		{func() error { return os.Chmod(folder, 0o755) }, ""},
		{func() error { return os.Chmod(folder, 0o775) }, "chmod -R go-w " + folder},
		{func() error { return os.Chmod(folder, 0o702) }, "can be written by others"},
		{func() error { return errors.Join(os.Rename(folder, folder+"2"), os.Symlink(folder+"2", folder)) }, "is a link"},
		{func() error { return errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o600)) }, "is not a folder"},
	} {
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		if err := Check(folder); (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700), os.Chown(folder, 12345, -1)); err != nil {
			t.Fatal(err)
		}
		if err := Check(folder); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("a folder of another's: %v", err)
		}
	}
}
