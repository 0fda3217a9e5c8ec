package handle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	swaps     = unix.RENAME_SWAP
	noReplace = unix.RENAME_EXCL
)

func renameAt(from *os.File, a string, to *os.File, b string, flags uint32) error {
	return unix.RenameatxNp(int(from.Fd()), a, int(to.Fd()), b, flags)
}

// openBeneath cannot be had here.
func openBeneath(*os.File, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func rootOf(*os.File) (*os.Root, error) { return nil, errors.ErrUnsupported }

func isShared(error) bool { return false }

// HasWriters cannot be told here.
func HasWriters(*os.File) (has, known bool) { return false, false }

const aclAttribute = ""

// SyncAll is nothing that this system offers to a program.
func SyncAll(*os.File) {}
