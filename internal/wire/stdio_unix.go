//go:build unix

package wire

import (
	"errors"
	"os"
	"runtime"
	"syscall"
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

// TryWriter gives a function that writes to f what it takes without waiting, or
// nil for a file that would have us wait all the same.
func TryWriter(f syscall.Conn) func(p []byte) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		nonblocking = err == nil && flags&unix.O_NONBLOCK != 0
	})
	if err != nil || !nonblocking {
		return nil
	}
	return func(p []byte) (n int, err error) {
		failed := raw.Write(func(fd uintptr) (done bool) {
			n, err = writeSome(int(fd), p)
			return true
		})
		if failed != nil {
			return 0, failed
		}
		return n, err
	}
}

// writeSome writes what there is room for.
func writeSome(fd int, p []byte) (int, error) {
	n, err := unix.Write(fd, p)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return max(0, n), err
}

// watchFor returns when there is something to read from the stream, at the latest
// after limit. It does not sleep meanwhile; where that would keep the peer from
// its work it returns at once.
func watchFor(stream any, limit time.Duration) {
	c, ok := stream.(syscall.Conn)
	if !ok || runtime.NumCPU() == 1 {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	began := time.Now()
	_ = raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for time.Since(began) < limit {
			if n, err := unix.Poll(look, 0); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
}
