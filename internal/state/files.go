package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MakePrivate makes a folder that only its user can look into, or takes one that is there if
// it is ours.
func MakePrivate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || !IsOurs(info) {
		return fmt.Errorf("%s is not a folder of this user; remove it", folder)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(folder, 0o700)
	}
	return nil
}

// Check says why what lasts cannot be kept in a folder: others could change what Pillion believes,
// or it leads elsewhere. One that is not there yet is made private.
func Check(folder string) error {
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s, where Pillion keeps what it must remember, is a link; move the folder there itself, or set XDG_STATE_HOME to where it lies", folder)
	case !info.IsDir():
		return fmt.Errorf("%s, where Pillion keeps what it must remember, is not a folder; remove it", folder)
	case !IsOurs(info):
		return fmt.Errorf("%s, where Pillion keeps what it must remember, belongs to another user; remove it, or set XDG_STATE_HOME to a folder of your own", folder)
	case othersWrite(info):
		return fmt.Errorf("%s, where Pillion keeps what it must remember, can be written by others; look what is in it, then run chmod -R go-w %s", folder, folder)
	}
	return nil
}

// Read reads a file of ours, of at most so many bytes: no link, and no other user's.
func Read(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !IsOurs(info) || info.Size() > most:
		return nil, fmt.Errorf("%s is not a file that this user's pillion wrote", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, fmt.Errorf("%s was replaced while it was read", path)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// TemporaryPrefix begins the names of files that are half written.
const TemporaryPrefix = ".new-"

// Replace writes a file as a whole, readable by its user alone.
func Replace(path string, text []byte) error {
	return replace(path, text, func(*os.File) error { return nil })
}

// ReplaceSynced has the text on the disk before it takes the other's place.
func ReplaceSynced(path string, text []byte) error { return replace(path, text, (*os.File).Sync) }

func replace(path string, text []byte, sync func(*os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), TemporaryPrefix+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, sync(temp), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
