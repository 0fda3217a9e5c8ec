package change

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dir *os.File, a, b string) error { return rename(dir, a, b, unix.RENAME_EXCHANGE) }

func renameNoReplace(dir *os.File, a, b string) error {
	return rename(dir, a, b, unix.RENAME_NOREPLACE)
}

func rename(dir *os.File, a, b string, flags uint) error {
	err := unix.Renameat2(int(dir.Fd()), a, int(dir.Fd()), b, flags)
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
