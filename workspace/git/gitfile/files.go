// Package gitfile reads the files of a git folder, which a stranger may have laid out: it waits for no FIFO, and
// reads no file without end.
package gitfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxSize is the size up to which files of a git folder are read whole. None is near it, save
// packed-refs of repositories with half a million references.
const maxSize = 64 << 20

// Read reads a regular file of a git folder. A FIFO in its place would
// block, so the file is opened non-blocking and looked at first.
func Read(name string) ([]byte, error) { return ReadWithin(name, maxSize) }

// ReadWithin is Read for a file of at most limit bytes.
func ReadWithin(name string, limit int64) ([]byte, error) {
	f, size, err := openWithin(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f, size, limit)
}

// readOpen reads a file that is as long as size, unless it has grown. One that has not is
// read in one go.
func readOpen(f *os.File, size, limit int64) ([]byte, error) {
	begin := make([]byte, size+1)
	n, err := io.ReadAtLeast(f, begin, 1)
	if size > 0 && int64(n) == size && err == nil {
		return begin[:n], nil
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	data, err := readAll(io.MultiReader(bytes.NewReader(begin[:n]), io.LimitReader(f, limit+1-int64(n))), size)
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: errBig}
	}
	return data, err
}

func openWithin(name string, limit int64) (*os.File, int64, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	case info.Size() > limit:
		err = &fs.PathError{Op: "read", Path: name, Err: errBig}
	default:
		if info.Size() == 0 {
			// The files of /proc and its like say that they are empty: one may have no end,
			// another wait for something to happen. Where no time can be set, nothing waits.
			_ = f.SetReadDeadline(time.Now().Add(time.Second))
		}
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// IsThere follows links, unlike Exists.
func IsThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// IsSame reports whether two names lead to one file or folder.
func IsSame(a, b string) bool {
	x, err := os.Stat(a)
	y, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(x, y)
}

// IsAlone reports whether a file is an ordinary one without another name.
func IsAlone(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && names(info) <= 1
}

// IsStraight reports whether a path below dir, with slashes, has no link in it, as far as it is there.
func IsStraight(dir, name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		dir = filepath.Join(dir, part)
		info, err := os.Lstat(dir)
		if err != nil {
			return errors.Is(err, fs.ErrNotExist) || IsNotDir(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
	}
	return true
}

func IsDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// readAll reads to the end of r, which is expected after size bytes.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var buffer bytes.Buffer
	buffer.Grow(int(min(max(size, 0), maxSize)) + bytes.MinRead)
	_, err := buffer.ReadFrom(r)
	return buffer.Bytes(), err
}

var errBig = errors.New("too large")
