//go:build unix

package wire

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollable returns a file for f's pipe or socket that Go's poller looks after,
// or f itself. Terminals are left alone: they are shared with the shell.
func pollable(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 || f.SetDeadline(time.Time{}) == nil {
		return f
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	polled := f
	_ = raw.Control(func(fd uintptr) {
		copied, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return
		}
		if unix.SetNonblock(copied, true) != nil {
			_ = unix.Close(copied)
			return
		}
		polled = os.NewFile(uintptr(copied), f.Name())
	})
	return polled
}
