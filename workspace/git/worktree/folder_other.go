//go:build !linux

package worktree

import (
	"io/fs"
	"os"
	"path/filepath"

	"pillion/workspace/git/odb"
)

// folder reads one folder of a work tree after the other.
type folder struct {
	work *workTree
	dir  string // absolute
	file *os.File
}

func (w *workTree) newFolder() (*folder, error) { return &folder{work: w}, nil }

func (f *folder) end() {}

// open opens the folder dir, a path of the repository that ends in a slash or is "".
func (f *folder) open(dir string) (err error) {
	f.dir = f.work.Abs(dir)
	info, err := os.Lstat(f.dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: f.dir, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	f.file, err = f.work.openFolder(dir)
	return err
}

func (f *folder) close() { f.file.Close() }

// list adds the entries of the folder that is open to into, in no order.
func (f *folder) list(into []dirEntry) ([]dirEntry, error) {
	entries, err := f.file.ReadDir(-1)
	for _, e := range entries {
		into = append(into, dirEntry{e.Name(), kindOfFile(e.Type())})
	}
	return into, err
}

func kindOfFile(t fs.FileMode) uint32 {
	switch t.Type() {
	case 0:
		return odb.ModeFile & odb.ModeTypeMask
	case fs.ModeDir:
		return odb.ModeDir
	case fs.ModeSymlink:
		return odb.ModeSymlink
	}
	return 0
}

// stat looks at the entry name of the folder that is open.
func (f *folder) stat(name string) (fileStat, bool) {
	info, err := os.Lstat(filepath.Join(f.dir, name))
	if err != nil {
		return fileStat{}, false
	}
	s := fileStat{kind: kindOfFile(info.Mode()), executable: info.Mode()&0o100 != 0, size: info.Size(), modified: stamp(info.ModTime())}
	if changed, inode, ok := identity(info); ok {
		s.changed, s.inode = changed, inode
	}
	return s, true
}
