//go:build unix

package gitfile

import (
	"errors"
	"syscall"
)

// NonBlocking keeps the opening of a FIFO from waiting for a writer.
const NonBlocking = syscall.O_NONBLOCK

func IsNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
