//go:build !linux && !darwin

package change

import (
	"errors"
	"io/fs"
	"os"
)

const nonBlocking = 0

func exchange(*os.File, string, string) error { return errors.ErrUnsupported }

func renameNoReplace(*os.File, string, string) error { return errors.ErrUnsupported }

func hasWriters(*os.File) bool { return false }

func isWritable(_ *os.File, _ string, info fs.FileInfo) bool { return info.Mode().Perm()&0o200 != 0 }

func keepOwner(from fs.FileInfo, _ *os.File) fs.FileMode { return from.Mode().Perm() }

func copyAttributes(_, _ *os.File) {}
