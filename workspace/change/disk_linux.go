package change

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

// exchange swaps two names of one folder in a single step. Where the file
// system cannot, it renames a over b and reports false.
func exchange(dir *os.File, root *os.Root, a, b string) (bool, error) {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
	if err == nil {
		return true, nil
	}
	if unsupported(err) {
		return false, root.Rename(a, b)
	}
	return false, &fs.PathError{Op: "rename", Path: b, Err: err}
}

// renameNoReplace gives a the name b unless something has it.
func renameNoReplace(dir *os.File, root *os.Root, a, b string) error {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, a, fd, b, unix.RENAME_NOREPLACE)
	switch {
	case err == nil:
		return nil
	case unsupported(err):
		return linkNoReplace(root, a, b)
	}
	return &fs.PathError{Op: "rename", Path: b, Err: err}
}

func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}

// copyOwnership gives to the owner and the extended attributes of from. What the
// system does not allow is left: the mode is set either way.
func copyOwnership(from, to *os.File, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := to.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil {
		return nil //nolint:nilerr // a file system without extended attributes has none to lose
	}
	value := make([]byte, 64<<10)
	for name := range splitNames(names[:n]) {
		if m, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(to.Fd()), name, value[:m], 0) //nolint:errcheck // security.* may be the kernel's alone
		}
	}
	return nil
}

func splitNames(list []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i, b := range list {
			if b == 0 {
				if !yield(string(list[start:i])) {
					return
				}
				start = i + 1
			}
		}
	}
}
