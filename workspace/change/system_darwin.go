package change

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dir *os.File, a, b string) error { return rename(dir, a, b, unix.RENAME_SWAP) }

func renameNoReplace(dir *os.File, a, b string) error { return rename(dir, a, b, unix.RENAME_EXCL) }

func rename(dir *os.File, a, b string, flags uint32) error {
	err := unix.RenameatxNp(int(dir.Fd()), a, int(dir.Fd()), b, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL): // what a file system answers that cannot
		err = errors.ErrUnsupported
	}
	return &fs.PathError{Op: "rename", Path: b, Err: err}
}

// hasWriters cannot be told here.
func hasWriters(*os.File) bool { return false }

const aclAttribute = ""
