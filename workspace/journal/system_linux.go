package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW

// dataSync leaves out what of the file's description no reader needs.
func dataSync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
