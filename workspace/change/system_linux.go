package change

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_EXCHANGE)
}

func renameNoReplace(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_NOREPLACE)
}

func rename(from *os.File, a string, to *os.File, b string, flags uint) error {
	err := unix.Renameat2(int(from.Fd()), a, int(to.Fd()), b, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL): // what a file system answers that cannot
		err = errors.ErrUnsupported
	}
	return &fs.PathError{Op: "rename", Path: b, Err: err}
}

// hasWriters reports whether anybody has the file open for writing: then the
// kernel gives no lease to read it undisturbed. Where it gives none for another
// reason, nothing can be told.
func hasWriters(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) //nolint:errcheck // closing ends it too
	}
	return errors.Is(err, unix.EAGAIN)
}

const aclAttribute = "system.posix_acl_access"
