//go:build unix

package workspace

import (
	"errors"
	"syscall"
)

// openFlags keep an open from waiting for the other end of a FIFO.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// dirFlags open folders and nothing else.
const dirFlags = syscall.O_DIRECTORY | openFlags

func isNameTooLong(err error) bool { return errors.Is(err, syscall.ENAMETOOLONG) }

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
