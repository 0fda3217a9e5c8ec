package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed into a terminal and not read yet.
func flush(tty *os.File) {
	unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) //nolint:errcheck // what was typed stays, then
}
