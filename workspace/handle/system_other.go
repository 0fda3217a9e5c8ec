//go:build !linux && !darwin

package handle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

const NonBlocking = 0

// checkMayGo: only to try tells it here.
func checkMayGo(*os.File, string, fs.FileMode) error { return nil }

func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

func renameNoReplace(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

func openBeneath(*os.File, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func rootOf(*os.File) (*os.Root, error) { return nil, errors.ErrUnsupported }

// isShared: another program, perhaps one that looks for viruses, has the file open for
// a moment.
func isShared(err error) bool {
	const sharingViolation, lockViolation = syscall.Errno(32), syscall.Errno(33)
	return runtime.GOOS == "windows" && (errors.Is(err, sharingViolation) || errors.Is(err, lockViolation))
}

// renamePlain goes by names: there are no handles to go by.
func renamePlain(from *os.File, a string, to *os.File, b string) error {
	return os.Rename(filepath.Join(from.Name(), a), filepath.Join(to.Name(), b))
}

// HasWriters: a file that somebody has open is not replaced here.
func HasWriters(*os.File) (has, known bool) { return false, true }

func KeepOwner(from fs.FileInfo, _ *os.File) fs.FileMode { return from.Mode().Perm() }

func CopyAttributes(_, _ *os.File) {}

// SyncAll is nothing that this system offers to a program.
func SyncAll(*os.File) {}
