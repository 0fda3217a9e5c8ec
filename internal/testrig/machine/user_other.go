//go:build !unix

package machine

import (
	"errors"
	"os/exec"
	"testing"
)

// RunAs has the command run as another user, who gets the folders.
func RunAs(*exec.Cmd, int, ...string) error { return errors.New("not on this system") }

// Fifo makes a named pipe.
func Fifo(testing.TB, string) {}
