//go:build linux || darwin

package change

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock that a file is, shared or alone, until free is called or the
// program ends. Each change takes one for every folder above, so no more is done than
// it needs: the file never meets the runtime's poller.
func tryLock(name string, alone bool) (free func(), err error) {
	fd, err := again(func() (int, error) {
		return unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	})
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	if _, err = again(func() (int, error) { return 0, unix.Flock(fd, how|unix.LOCK_NB) }); err == nil {
		return func() { unix.Close(fd) }, nil //nolint:errcheck // closing it ends the lock
	}
	unix.Close(fd) //nolint:errcheck // it is not locked
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, err
}

// again makes a call until no signal comes between.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
