package process

import (
	"errors"
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
	h := &Held{}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	scratch, err := h.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string, writes bool) error {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir = dir
		if err := h.Start(cmd, writes); err != nil {
			t.Fatal(err)
		}
		return cmd.Wait()
	}
	if err := run("test -r /etc/passwd && cat /etc/passwd >/dev/null", false); err != nil {
		t.Errorf("it reads: %v", err)
	}
	for _, line := range []string{"echo x >file", "mkdir folder", "rm -r .", "echo x >/dev/shm/pillion-held", "kill -0 $PPID"} {
		for _, writes := range []bool{false, true} {
			if err := run(line, writes); err == nil {
				t.Errorf("%s works", line)
			}
		}
	}
	if run("echo x >"+filepath.Join(scratch, "file"), false) == nil {
		t.Error("what only reads writes")
	}
	if err := run("until [ $(ulimit -d) = 2097152 ]; do :; done", false); err != nil { // in KiB
		t.Errorf("its memory has no bound: %v", err)
	}
	if err := run("echo x >"+filepath.Join(scratch, "file"), true); err != nil {
		t.Errorf("where it may write: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ours"), nil, 0o600); err != nil {
		t.Errorf("this program is held as well: %v", err)
	}
}

// TestWhatIsHeldEndsWithItsStarter, though it waits for something that never comes.
func TestWhatIsHeldEndsWithItsStarter(t *testing.T) {
	h := &Held{}
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 1000")
	if err := h.Start(cmd, false); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended: %v", err)
	}
	if err := h.Start(exec.Command("/bin/true"), false); err == nil {
		t.Error("something is started after the end")
	}
}

// TestNothingIsStartedAtTheEnd: who starts something while all ends is refused, and nobody waits.
func TestNothingIsStartedAtTheEnd(t *testing.T) {
	for range 20 {
		h := &Held{}
		done := make(chan error, 8)
		for range cap(done) {
			go func() {
				cmd := exec.Command("/bin/true")
				err := h.Start(cmd, false)
				if err == nil {
					_ = cmd.Wait() // it may be killed
				}
				done <- err
			}()
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		for range cap(done) {
			if err := <-done; err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
	}
}
