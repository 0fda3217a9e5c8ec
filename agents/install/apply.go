package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"pillion/internal/way"
)

// Apply writes the plan. It first checks that every file still holds what the
// plan was made from; when one does not, nothing is written. A failure half
// way puts back what was already written.
func (p Plan) Apply() error {
	for _, f := range p.Files {
		if err := f.unchanged(f.Before, f.Existed); err != nil {
			return err
		}
	}
	for i, f := range p.Files {
		if err := f.write(); err != nil {
			return errors.Join(err, undo(p.Files[:i]))
		}
	}
	return nil
}

func undo(done []FileChange) error {
	var errs []error
	for i := len(done) - 1; i >= 0; i-- {
		f := done[i]
		back := FileChange{Path: f.Path, Before: f.After, After: f.Before, Existed: !f.Delete, Delete: !f.Existed}
		if err := back.write(); err != nil {
			errs = append(errs, fmt.Errorf("could not restore %s: %w", f.Path, err))
		}
	}
	return errors.Join(errs...)
}

// unchanged holds the file against what the plan was made from.
func (f FileChange) unchanged(want string, existed bool) error {
	text, exists, err := read(f.Path)
	if err != nil {
		return err
	}
	if text != want || exists != existed {
		return fmt.Errorf("%s changed meanwhile and was left alone; run this again", f.Path)
	}
	return nil
}

func (f FileChange) write() error {
	target, err := follow(f.Path)
	if err != nil {
		return err
	}
	if f.Delete {
		if err := f.unchanged(f.Before, f.Existed); err != nil {
			return err
		}
		return os.Remove(target)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return fmt.Errorf("cannot create the folder of %s: %w", f.Path, err)
	}
	temp, err := stage(target, f.After, mode)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.Path, err)
	}
	defer os.Remove(temp) // gone already when the rename succeeded
	if err := f.unchanged(f.Before, f.Existed); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		return fmt.Errorf("cannot write %s: %w", f.Path, err)
	}
	syncFolder(filepath.Dir(target))
	return nil
}

// stage writes the text beside its target, ready to be renamed over it.
func stage(target, text string, mode fs.FileMode) (path string, err error) {
	t, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".pillion-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, t.Close()); err != nil {
			os.Remove(t.Name())
		}
	}()
	if _, err := t.WriteString(text); err != nil {
		return "", err
	}
	if err := t.Chmod(mode); err != nil {
		return "", err
	}
	return t.Name(), t.Sync()
}

// follow resolves symbolic links, also those whose target is not there yet: a
// user's dotfiles stay links into the repository that holds them.
func follow(path string) (string, error) {
	if _, err := os.Readlink(path); err != nil {
		return path, nil //nolint:nilerr // not a link, or not there: it is the target
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	end, leads := new(way.Walker).Follow(path, nil)
	if !leads {
		return "", fmt.Errorf("%s: too many symbolic links", path)
	}
	return end, nil
}

// syncFolder makes the rename durable where the system can; where it cannot
// (Windows), the file is there all the same.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
