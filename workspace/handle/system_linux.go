package handle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	swaps     = unix.RENAME_EXCHANGE
	noReplace = unix.RENAME_NOREPLACE
)

func renameAt(from *os.File, a string, to *os.File, b string, flags uint) error {
	return unix.Renameat2(int(from.Fd()), a, int(to.Fd()), b, flags)
}

// openBeneath opens a folder below dir, if no link is on the way.
func openBeneath(dir *os.File, name string) (*os.File, error) {
	fd, err := unix.Openat2(int(dir.Fd()), name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case err == nil:
		return os.NewFile(uintptr(fd), name), nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a sandbox that does not know the call
		err = errors.ErrUnsupported
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV):
		err = unix.ENOTDIR // a link
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// rootOf is a handle for what is below an open folder.
func rootOf(dir *os.File) (*os.Root, error) {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return nil, errors.ErrUnsupported // there is no /proc
	}
	return root, nil
}

func isShared(error) bool { return false }

// HasWriters reports whether anybody has the file open for writing: then the
// kernel gives no lease to read it undisturbed. Where it gives none for another
// reason, nothing is known.
func HasWriters(f *os.File) (has, known bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) //nolint:errcheck // closing ends it too
	}
	has = errors.Is(err, unix.EAGAIN)
	return has, has || err == nil
}

const aclAttribute = "system.posix_acl_access"

// SyncAll has everything of the file system outlive a crash that was written to it.
func SyncAll(f *os.File) { unix.Syncfs(int(f.Fd())) } //nolint:errcheck // nothing can be done
