//go:build !linux && !darwin

package change

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const nonBlocking = 0

func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

func renameNoReplace(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// renamePlain goes by names: there are no handles to go by.
func renamePlain(from *os.File, a string, to *os.File, b string) error {
	return os.Rename(filepath.Join(from.Name(), a), filepath.Join(to.Name(), b))
}

func hasWriters(*os.File) bool { return false }

func keepOwner(from fs.FileInfo, _ *os.File) fs.FileMode { return from.Mode().Perm() }

func copyAttributes(_, _ *os.File) {}
