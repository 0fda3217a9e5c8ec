//go:build unix

package doctor

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isWritable reports whether this user may make files in the folder.
func isWritable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// others are the bits of the mode that let others in, of those asked for.
func others(info os.FileInfo, bits os.FileMode) os.FileMode { return info.Mode().Perm() & bits }

// endTogether has the time limit end a program with everything that it started.
func endTogether(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
