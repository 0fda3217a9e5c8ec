//go:build linux || darwin

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadOnly reports whether the file at p, which info is of, may not be written to:
// its owner took that right away, or it is somebody else's. To replace it would not
// ask. Of the user's own files the mode says it, also to root, whom it does not bind.
func (p Path) ReadOnly(info fs.FileInfo) bool {
	if info.Mode().Perm()&0o200 == 0 {
		return true
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() == 0 || int(st.Uid) == os.Geteuid() {
		return false
	}
	err := unix.Faccessat(unix.AT_FDCWD, p.Abs(), unix.W_OK, unix.AT_EACCESS)
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}
