//go:build unix

package sidecar

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pillion/internal/testrig/check"
)

// TestNotify: a program of the system shows it, and takes no word of it for an option or a link.
func TestNotify(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	check.Must(t, syscall.Mkfifo(said, 0o600))
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + said + "\n"
	check.Must(t, os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o755))
	folders := systemFolders
	systemFolders = []string{dir}
	t.Cleanup(func() { systemFolders = folders })
	for sound, hint := range map[bool]string{false: "", true: "--hint=string:sound-name:message-new-instant\n"} {
		notify(`--help & <a href="x">`, sound)
		got, err := os.ReadFile(said) // when it has been said
		if want := "--app-name=Pillion\n" + hint + "--\nPillion\n--help &amp; &lt;a href=\"x\"&gt;\n"; err != nil || string(got) != want {
			t.Errorf("said %q: %v", got, err)
		}
	}
}
