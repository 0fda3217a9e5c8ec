package change

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_SWAP)
}

func renameNoReplace(from *os.File, a string, to *os.File, b string) error {
	return rename(from, a, to, b, unix.RENAME_EXCL)
}

func rename(from *os.File, a string, to *os.File, b string, flags uint32) error {
	err := unix.RenameatxNp(int(from.Fd()), a, int(to.Fd()), b, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL): // what a file system answers that cannot
		err = errors.ErrUnsupported
	}
	return &fs.PathError{Op: "rename", Path: b, Err: err}
}

// openBeneath cannot be had here.
func openBeneath(*os.File, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func rootOf(*os.File) (*os.Root, error) { return nil, errors.ErrUnsupported }

func isShared(error) bool { return false }

// hasWriters cannot be told here.
func hasWriters(*os.File) (has, known bool) { return false, false }

const aclAttribute = ""

// syncAll is nothing that this system offers to a program.
func syncAll(*os.File) {}
