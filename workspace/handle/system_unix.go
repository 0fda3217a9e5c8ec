//go:build linux || darwin

package handle

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkMayGo fails where a name could not be removed from a folder, or a folder not be
// emptied, as far as can be told. Who owns a folder may make it one that may be written.
func checkMayGo(dir *os.File, name string, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return nil
	}
	access := uint32(unix.W_OK)
	if mode.IsDir() {
		access |= unix.X_OK
	}
	err := unix.Faccessat(int(dir.Fd()), name, access, 0)
	var st unix.Stat_t
	switch {
	case errors.Is(err, unix.EACCES) && !mode.IsDir():
		return nil // it need not be written to be removed
	case errors.Is(err, unix.EACCES) && unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && int(st.Uid) == os.Geteuid():
		return nil
	case errors.Is(err, unix.ENOENT):
		return nil // it is not what was planned any more, which is looked at next
	}
	return err
}

const NonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

func exchange(from *os.File, a string, to *os.File, b string) error {
	return renamed(renameAt(from, a, to, b, swaps), b)
}

func renameNoReplace(from *os.File, a string, to *os.File, b string) error {
	return renamed(renameAt(from, a, to, b, noReplace), b)
}

func renamed(err error, b string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL): // what a file system answers that cannot
		err = errors.ErrUnsupported
	}
	return &fs.PathError{Op: "rename", Path: b, Err: err}
}

// renamePlain replaces what is there.
func renamePlain(from *os.File, a string, to *os.File, b string) error {
	if err := unix.Renameat(int(from.Fd()), a, int(to.Fd()), b); err != nil {
		return &fs.PathError{Op: "rename", Path: b, Err: err}
	}
	return nil
}

// KeepOwner gives to the owner and the group of from, as far as the system allows,
// and returns the mode that it should have: without the rights that would now be
// somebody else's.
func KeepOwner(from fs.FileInfo, to *os.File) fs.FileMode {
	mode := from.Mode().Perm() | from.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
	st, ok := from.Sys().(*syscall.Stat_t)
	if !ok || isOwnedAs(st, to) || to.Chown(int(st.Uid), int(st.Gid)) == nil {
		return mode
	}
	mode &^= fs.ModeSetuid
	if to.Chown(-1, int(st.Gid)) != nil {
		mode &^= fs.ModeSetgid
		others := mode & 0o007
		mode &= 0o707 | others<<3
	}
	return mode
}

// isOwnedAs: as most often, there is nothing to give. To ask is less than to write, of
// which everybody who watches the folder is told.
func isOwnedAs(st *syscall.Stat_t, to *os.File) bool {
	info, err := to.Stat()
	if err != nil {
		return false
	}
	has, ok := info.Sys().(*syscall.Stat_t)
	return ok && has.Uid == st.Uid && has.Gid == st.Gid
}

// CopyAttributes gives to the extended attributes of from, access lists among
// them, and no others. What the system keeps for itself is left.
func CopyAttributes(from, to *os.File) {
	names := attributes(from)
	var value []byte
	for _, name := range names {
		if value == nil {
			value = make([]byte, maxAttribute)
		}
		if n, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(to.Fd()), name, value[:n], 0) //nolint:errcheck // security.* may be the kernel's alone
		}
	}
	// A folder may give every new file a list that the old file did not have.
	if aclAttribute != "" && !slices.Contains(names, aclAttribute) && mayHave(to, aclAttribute) {
		unix.Fremovexattr(int(to.Fd()), aclAttribute) //nolint:errcheck // it has none
	}
}

// mayHave: the system does not say that it is not there.
func mayHave(f *os.File, name string) bool {
	_, err := unix.Fgetxattr(int(f.Fd()), name, nil)
	return !errors.Is(err, unix.ENODATA)
}

// maxAttribute bounds a value, and the list of names, on Linux.
const maxAttribute = 64 << 10

func attributes(f *os.File) []string {
	list := make([]byte, 512) // as most often, it is empty
	n, err := unix.Flistxattr(int(f.Fd()), list)
	if errors.Is(err, unix.ERANGE) {
		list = make([]byte, maxAttribute)
		n, err = unix.Flistxattr(int(f.Fd()), list)
	}
	if err != nil {
		return nil // a file system without extended attributes has none to lose
	}
	return strings.FieldsFunc(string(list[:n]), func(r rune) bool { return r == 0 })
}
