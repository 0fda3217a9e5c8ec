//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a FIFO.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// dirFlags open folders and nothing else.
const dirFlags = syscall.O_DIRECTORY | openFlags

func isNameTooLong(err error) bool { return errors.Is(err, syscall.ENAMETOOLONG) }

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// LosesOwner names the user whose file would be this process's own if it were replaced, "" where the
// owner can be kept, or is the same: only root gives files away.
func LosesOwner(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return losesOwner(int(stat.Uid), os.Geteuid())
}

func losesOwner(owner, own int) string {
	if owner == own || own == 0 {
		return ""
	}
	number := strconv.Itoa(owner)
	if known, err := user.LookupId(number); err == nil {
		return known.Username
	}
	return "user " + number
}

// ownerOf is the number of the user that the file belongs to.
func ownerOf(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(stat.Uid), 10)
	}
	return ""
}

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
