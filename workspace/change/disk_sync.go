package change

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// linkNoReplace gives a the name b by a hard link, which fails where b exists;
// on file systems without links it looks before it renames.
func linkNoReplace(root *os.Root, a, b string) error {
	err := root.Link(a, b)
	switch {
	case err == nil:
		return root.Remove(a)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return root.Rename(a, b)
}

// syncDir makes a rename last. Windows has no such call and needs none.
func syncDir(dir *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return dir.Sync()
}
