package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a console's Ctrl+C from a child that we end ourselves.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
