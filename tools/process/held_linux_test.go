package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestWhatIsHeldToRead: the second wall around git that reads, tried with a program that does what git must not.
func TestWhatIsHeldToRead(t *testing.T) {
	if landlockABI() < leastABI {
		t.Log("this kernel has no Landlock: nothing is held")
		return
	}
	dir, open := t.TempDir(), t.TempDir()
	run := func(line string, writable ...string) error {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir = dir
		if err := StartHeld(cmd, writable...); err != nil {
			t.Fatal(err)
		}
		return cmd.Wait()
	}
	if err := run("test -r /etc/passwd && cat /etc/passwd >/dev/null"); err != nil {
		t.Errorf("it reads: %v", err)
	}
	for _, line := range []string{"echo x >file", "mkdir folder", "rm -r .", "echo x >" + open + "/file", "kill -0 " + "$PPID"} {
		if err := run(line); err == nil {
			t.Errorf("%s works", line)
		}
	}
	if err := run("until [ $(ulimit -d) = 2097152 ]; do :; done"); err != nil { // in KiB
		t.Errorf("its memory has no bound: %v", err)
	}
	if err := run("echo x >"+filepath.Join(open, "file"), open); err != nil {
		t.Errorf("where it may write: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ours"), nil, 0o600); err != nil {
		t.Errorf("this program is held as well: %v", err)
	}
}
