//go:build linux || darwin

package change

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

// renamePlain replaces what is there.
func renamePlain(from *os.File, a string, to *os.File, b string) error {
	if err := unix.Renameat(int(from.Fd()), a, int(to.Fd()), b); err != nil {
		return &fs.PathError{Op: "rename", Path: b, Err: err}
	}
	return nil
}

// keepOwner gives to the owner and the group of from, as far as the system allows,
// and returns the mode that it should have: without the rights that would now be
// somebody else's.
func keepOwner(from fs.FileInfo, to *os.File) fs.FileMode {
	mode := from.Mode().Perm() | from.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
	st, ok := from.Sys().(*syscall.Stat_t)
	if !ok || to.Chown(int(st.Uid), int(st.Gid)) == nil {
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

// copyAttributes gives to the extended attributes of from, access lists among
// them, and no others. What the system keeps for itself is left.
func copyAttributes(from, to *os.File) {
	names := attributes(from)
	value := make([]byte, maxAttribute)
	for _, name := range names {
		if n, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(to.Fd()), name, value[:n], 0) //nolint:errcheck // security.* may be the kernel's alone
		}
	}
	// A folder may give every new file a list that the old file did not have.
	if aclAttribute != "" && !slices.Contains(names, aclAttribute) {
		unix.Fremovexattr(int(to.Fd()), aclAttribute) //nolint:errcheck // it has none
	}
}

// maxAttribute bounds a value, and the list of names, on Linux.
const maxAttribute = 64 << 10

func attributes(f *os.File) []string {
	list := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(int(f.Fd()), list)
	if err != nil {
		return nil // a file system without extended attributes has none to lose
	}
	return strings.FieldsFunc(string(list[:n]), func(r rune) bool { return r == 0 })
}
