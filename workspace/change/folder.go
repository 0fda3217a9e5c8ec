package change

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"pillion/workspace"
)

// folder is the folder that holds the file to be written.
type folder struct {
	root   *os.Root
	handle *os.File // the same, for what os.Root cannot do
	// unsynced: the human does not want to wait for the disk.
	unsynced bool
}

// openFolder enters dir from its workspace folder, one name at a time. dir has no
// symbolic links; one that has come into the way since then leads to a place that
// nobody agreed to, and is not followed. With create, folders that are missing
// are made, and named in the order in which they were, also on failure.
func openFolder(dir workspace.Path, create bool) (f folder, made []string, err error) {
	at, err := dir.Root().OpenRoot(".")
	if err != nil {
		return f, nil, err
	}
	for rest, done := dir.Rel(), "."; rest != "" && rest != "."; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		done = path.Join(done, name)
		next, isNew, err := enter(at, name, create)
		at.Close()
		if isNew {
			made = append(made, done)
		}
		if err != nil {
			return f, made, err
		}
		at = next
	}
	f.root = at
	if f.handle, err = at.Open("."); err != nil {
		at.Close()
	}
	return f, made, err
}

func enter(at *os.Root, name string, create bool) (next *os.Root, isNew bool, err error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		err = at.Mkdir(name, 0o777)
		if isNew = err == nil; isNew {
			syncRoot(at)
		}
		if isNew || errors.Is(err, fs.ErrExist) {
			info, err = at.Lstat(name)
		}
	}
	if err != nil {
		return nil, isNew, err
	}
	if !info.IsDir() {
		return nil, isNew, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if next, err = at.OpenRoot(name); err != nil {
		return nil, isNew, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, isNew, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return next, isNew, nil
}

func (f folder) close() {
	f.root.Close()
	f.handle.Close()
}

// sync makes a rename last. Where the system has no such call none is needed,
// and where it fails nothing can be done: the rename is made.
func (f folder) sync() {
	if !f.unsynced {
		f.handle.Sync() //nolint:errcheck // see above
	}
}

func syncRoot(dir *os.Root) {
	if handle, err := dir.Open("."); err == nil {
		handle.Sync() //nolint:errcheck // see folder.sync
		handle.Close()
	}
}

// exchange swaps two names, in one step where the system can.
func (f folder) exchange(a, b string) error {
	err := exchange(f.handle, a, f.handle, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.swap(a, b)
}

// swap gives b's file another name first, so that nothing is lost, and then
// renames a over b.
func (f folder) swap(a, b string) error {
	kept := a + ".old"
	if err := f.keep(b, kept); err != nil {
		return err
	}
	if err := f.root.Rename(a, b); err != nil {
		f.root.Remove(kept) //nolint:errcheck // b still is what it is
		return err
	}
	return f.root.Rename(kept, a)
}

// keep gives name's file a second name, or copies it where the file system has
// no links.
func (f folder) keep(name, second string) error {
	err := f.root.Link(name, second)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	}
	data, err := f.root.ReadFile(name)
	if err != nil {
		return err
	}
	return f.root.WriteFile(second, data, info.Mode().Perm())
}

// give renames a to b unless there is a b.
func (f folder) give(a, b string) error {
	err := renameNoReplace(f.handle, a, f.handle, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	switch err = f.root.Link(a, b); {
	case err == nil:
		f.root.Remove(a) //nolint:errcheck // b is made
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := f.root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return f.root.Rename(a, b)
}

// giveTo is give into another folder. Where the system has no such call, a look
// has to do.
func (f folder) giveTo(a string, to folder, b string) error {
	err := renameNoReplace(f.handle, a, to.handle, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := to.root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return renamePlain(f.handle, a, to.handle, b)
}

// exchangeWith is exchange with a name of another folder. Where the system has no
// such call, b's is moved out of the way first.
func (f folder) exchangeWith(a string, to folder, b string) error {
	err := exchange(f.handle, a, to.handle, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	kept := ".pillion-" + rand.Text() + ".tmp"
	if err := to.giveTo(b, f, kept); err != nil {
		return err
	}
	if err := f.giveTo(a, to, b); err != nil {
		return errors.Join(err, f.giveTo(kept, to, b))
	}
	return f.giveTo(kept, f, a)
}
