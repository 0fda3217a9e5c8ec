//go:build unix

package doctor

import (
	"os/exec"
	"syscall"
)

// endTogether has the time limit end a program with everything that it started.
func endTogether(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
