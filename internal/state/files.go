package state

import (
	"errors"
	"fmt"
	"io"
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
	temp, err := os.CreateTemp(filepath.Dir(path), TemporaryPrefix+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
