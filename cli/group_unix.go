//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl+C from a child that we end ourselves.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
