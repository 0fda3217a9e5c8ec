//go:build unix

package machine

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// RunAs has the command run as another user, who gets the folders. Only root can.
func RunAs(command *exec.Cmd, uid int, folders ...string) error {
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	for _, dir := range folders {
		if err := os.Chown(dir, uid, uid); err != nil {
			return err
		}
	}
	return nil
}

// Fifo makes a named pipe.
func Fifo(t testing.TB, name string) {
	t.Helper()
	Must(t, syscall.Mkfifo(name, 0o600))
}
