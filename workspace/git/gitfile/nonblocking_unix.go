//go:build unix

package gitfile

import (
	"errors"
	"io/fs"
	"syscall"
)

// NonBlocking keeps the opening of a FIFO from waiting for a writer.
const NonBlocking = syscall.O_NONBLOCK

func IsNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// names is how many a file has, 1 if it does not say.
func names(info fs.FileInfo) uint64 {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink) //nolint:unconvert // it has another size elsewhere
	}
	return 1
}
