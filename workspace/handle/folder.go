// Package handle is an open folder and what is done to its entries: named, exchanged and
// removed without following a link, and compared with what was planned before and after.
//
// All of it goes through Calls: faults that pass are tried again, and a test can make each
// call fail. It decides nothing and keeps nothing: that is workspace/change, which alone uses it.
package handle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"pillion/workspace"
)

// Folder is a folder in which something is changed. All that is done in it names
// entries of its own, so nothing can lead out of it.
type Folder struct {
	Calls
	Root   *os.Root
	Handle *os.File // the same, for what os.Root cannot do
}

// OpenFolder enters dir. dir has no symbolic links; one that has come into the way
// since then leads to a place that nobody agreed to, and is not followed. With create,
// folders that are missing are made, and named in the order in which they were, also
// on failure.
func (c Calls) OpenFolder(dir workspace.Path, create bool) (f Folder, made []string, err error) {
	err = c.Try("open folder", func() (err error) {
		f, err = c.jump(dir)
		return err
	})
	if create && errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
		return c.walk(dir, create)
	}
	return f, nil, err
}

// jump enters dir in one step, where the system can refuse links on the way.
func (c Calls) jump(dir workspace.Path) (Folder, error) {
	top, err := dir.Root().OpenFile(".", os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return Folder{}, err
	}
	if dir.IsRoot() {
		return c.enterHandle(dir.Root(), top)
	}
	defer top.Close()
	handle, err := openBeneath(top, dir.Rel())
	if err != nil {
		return Folder{}, err
	}
	root, err := rootOf(handle)
	if err != nil {
		handle.Close()
		return Folder{}, err
	}
	return Folder{c, root, handle}, nil
}

func (c Calls) enterHandle(at *os.Root, handle *os.File) (Folder, error) {
	root, err := at.OpenRoot(".")
	if err != nil {
		handle.Close()
		return Folder{}, err
	}
	return Folder{c, root, handle}, nil
}

// walk enters dir one name at a time.
func (c Calls) walk(dir workspace.Path, create bool) (f Folder, made []string, err error) {
	at, err := dir.Root().OpenRoot(".")
	if err != nil {
		return f, nil, err
	}
	for rest, done := dir.Rel(), "."; rest != "" && rest != "."; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		done = path.Join(done, name)
		next, isNew, err := c.enter(at, name, create)
		at.Close()
		if isNew {
			made = append(made, done)
		}
		if err != nil {
			return f, made, err
		}
		at = next
	}
	handle, err := at.Open(".")
	if err != nil {
		at.Close()
		return f, made, err
	}
	return Folder{c, at, handle}, made, nil
}

func (c Calls) enter(at *os.Root, name string, create bool) (next *os.Root, isNew bool, err error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if isNew, err = c.makeFolder(at, name); isNew || errors.Is(err, fs.ErrExist) {
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

// makeFolder makes it so that it lasts, or not at all.
func (c Calls) makeFolder(at *os.Root, name string) (made bool, err error) {
	if err := c.Try("mkdir", func() error { return at.Mkdir(name, 0o777) }); err != nil {
		return false, err
	}
	handle, err := at.Open(".")
	if err == nil {
		err = Folder{Calls: c, Handle: handle}.Sync()
		handle.Close()
	}
	if err != nil {
		gone := c.RemoveAt(at, name)
		return gone != nil, errors.Join(err, gone) // who called removes it, or tells of it
	}
	return true, nil
}

// Cause is err without the path that the system adds to it.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (f Folder) Close() {
	f.Root.Close()
	f.Handle.Close()
}

// Sync makes what was done to the names last. Where the system has no such call none
// is needed.
func (f Folder) Sync() error {
	err := f.Calls.Sync(f.Handle)
	if isNoSync(err) {
		return nil
	}
	return err
}

func isNoSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}

// Exchange swaps two names of the folder, in one step where the system can. Where it
// cannot, expected is asked about b at the last moment.
func (f Folder) Exchange(a, b string, expected func() error) error {
	err := f.Try("rename", func() error { return exchange(f.Handle, a, f.Handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := expected(); err != nil {
		return err
	}
	return f.Swap(a, b)
}

// Anything is expected where what comes out is looked at afterwards.
func Anything() error { return nil }

// Swap gives b's file another name first, so that nothing is lost, and then
// renames a over b.
func (f Folder) Swap(a, b string) error {
	kept := a + ".old"
	if err := f.linkOrCopy(b, kept); err != nil {
		return err
	}
	if err := f.Try("plain rename", func() error { return f.Root.Rename(a, b) }); err != nil {
		return errors.Join(err, f.RemoveOne(kept)) // b still is what it is
	}
	return f.Try("plain rename", func() error { return f.Root.Rename(kept, a) })
}

// linkOrCopy gives name's file a second name, or copies it where the file system has
// no links.
func (f Folder) linkOrCopy(name, second string) error {
	err := f.Root.Link(name, second)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := f.Root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	}
	data, err := f.Root.ReadFile(name)
	if err != nil {
		return err
	}
	return f.Root.WriteFile(second, data, info.Mode().Perm())
}

// Rename renames a to b unless there is a b.
func (f Folder) Rename(a, b string) error {
	err := f.Try("rename", func() error { return renameNoReplace(f.Handle, a, f.Handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	switch err = f.Root.Link(a, b); {
	case err == nil:
		if err = f.RemoveOne(a); err != nil {
			err = errors.Join(err, f.RemoveOne(b)) // a is what it was
		}
		return err
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := f.Root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return f.Root.Rename(a, b)
}

// RenameTo is Rename into another folder. Where the system has no such call, a look
// has to do.
func (f Folder) RenameTo(a string, to Folder, b string) error {
	err := f.Try("rename", func() error { return renameNoReplace(f.Handle, a, to.Handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := to.Root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return renamePlain(f.Handle, a, to.Handle, b)
}

// OpenOwn enters a folder of this program's own, with the links on the way to it.
func (c Calls) OpenOwn(dir string) (f Folder, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return f, err
	}
	handle, err := root.Open(".")
	if err != nil {
		root.Close()
		return f, err
	}
	return Folder{c, root, handle}, nil
}

// ErrOtherDisk is why what is on one disk cannot be moved to another.
var ErrOtherDisk = errors.New("it is on another disk")

// Replace is RenameTo in place of what is there.
func (f Folder) Replace(a string, to Folder, b string) error {
	err := f.Try("plain rename", func() error { return renamePlain(f.Handle, a, to.Handle, b) })
	if errors.Is(err, syscall.EXDEV) {
		return ErrOtherDisk
	}
	return err
}

// ExchangeWith is Exchange with a name of another folder. Where the system has no
// such call, b's is moved out of the way first.
func (f Folder) ExchangeWith(a string, to Folder, b string) error {
	err := f.Try("rename", func() error { return exchange(f.Handle, a, to.Handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	kept := workspace.NewTemp()
	if err := to.RenameTo(b, f, kept); err != nil {
		return err
	}
	if err := f.RenameTo(a, to, b); err != nil {
		return errors.Join(err, f.RenameTo(kept, to, b))
	}
	return f.RenameTo(kept, f, a)
}

// Fill makes a file, which nobody else can read before it is whole.
func (f Folder) Fill(name string, from io.Reader, mode fs.FileMode, sync bool) error {
	file, err := f.Root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil || !sync {
		return err
	}
	return file.Sync()
}
