//go:build unix

package wire

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollable returns a file for f's pipe or socket that Go's poller looks after,
// or f itself. Terminals are left alone: they are shared with the shell.
func pollable(f *os.File) *os.File {
	if !isStream(f) || isPolled(f) {
		return f
	}
	fd, err := copyOf(f)
	if err != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func isStream(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

func isPolled(f *os.File) bool { return f.SetDeadline(time.Time{}) == nil }

// copyOf is another descriptor of f's pipe or socket, which does not block.
func copyOf(f *os.File) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	copied := -1
	failed := raw.Control(func(fd uintptr) {
		if copied, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return
		}
		if err = unix.SetNonblock(copied, true); err != nil {
			_ = unix.Close(copied)
		}
	})
	return copied, errors.Join(failed, err)
}
