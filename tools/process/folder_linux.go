package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// opened is an open folder: what is done in it is done there, wherever a command moves it, and no
// link leads out of it.
type opened struct {
	*os.Root
	file *os.File // which its name goes by
}

// openFolder opens the folder at a path that Resolve gave, if no link has come into that path since.
func openFolder(path string) (opened, error) {
	file, err := openStraight(path)
	if err != nil {
		return opened{}, err
	}
	root, err := os.OpenRoot(linkOf(file))
	if err != nil {
		file.Close()
		return opened{}, err
	}
	return opened{root, file}, nil
}

func (f opened) Close() {
	f.Root.Close()
	f.file.Close()
}

// path is by what others may read what is in the folder.
func (f opened) path(name string) string { return filepath.Join(f.Name(), name) }

// Open and Stat are for fs.WalkDir. It goes into no link, and takes names that are no text.
func (f opened) Open(name string) (fs.File, error) {
	return f.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (f opened) Stat(name string) (fs.FileInfo, error) { return f.Lstat(name) }

// openStraight gives a descriptor of what is at a path, and an error where a link leads there.
func openStraight(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	if at, err := os.Readlink(linkOf(file)); err != nil || at != path {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(err, errLed)}
	}
	return file, nil
}

var errLed = errors.New("a link leads elsewhere")

// linkOf is the path by which this process finds an open file, whatever happens to its names.
func linkOf(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }
