package machine

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenTTY makes a terminal of so many columns, for as long as the test runs. What
// is written to keys is typed there, and what a program writes to tty can be read
// from keys.
func OpenTTY(t testing.TB, columns int) (keys, tty *os.File) {
	t.Helper()
	keys, tty, err := NewTTY(columns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		keys.Close()
		tty.Close()
	})
	return keys, tty
}

// NewTTY is OpenTTY for those who close it themselves.
func NewTTY(columns int) (keys, tty *os.File, err error) {
	keys, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := setUp(keys, columns)
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	return keys, tty, nil
}

// setUp makes the other side of keys ready and gives its number.
func setUp(keys *os.File, columns int) (number int, err error) {
	raw, err := keys.SyscallConn()
	if err != nil {
		return 0, err
	}
	var unlock, ask, size error
	err = raw.Control(func(fd uintptr) {
		unlock = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		number, ask = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		size = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)})
	})
	return number, errors.Join(err, unlock, ask, size)
}
