package change

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"pillion/workspace"
)

// folder is a folder in which something is changed. All that is done in it names
// entries of its own, so nothing can lead out of it.
type folder struct {
	calls
	root   *os.Root
	handle *os.File // the same, for what os.Root cannot do
}

// openFolder enters dir. dir has no symbolic links; one that has come into the way
// since then leads to a place that nobody agreed to, and is not followed. With create,
// folders that are missing are made, and named in the order in which they were, also
// on failure.
func (c calls) openFolder(dir workspace.Path, create bool) (f folder, made []string, err error) {
	err = c.try("open folder", func() (err error) {
		f, err = c.jump(dir)
		return err
	})
	if create && errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
		return c.walk(dir, create)
	}
	return f, nil, err
}

// jump enters dir in one step, where the system can refuse links on the way.
func (c calls) jump(dir workspace.Path) (folder, error) {
	top, err := dir.Root().OpenFile(".", os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return folder{}, err
	}
	if dir.IsRoot() {
		return c.enterHandle(dir.Root(), top)
	}
	defer top.Close()
	handle, err := openBeneath(top, dir.Rel())
	if err != nil {
		return folder{}, err
	}
	root, err := rootOf(handle)
	if err != nil {
		handle.Close()
		return folder{}, err
	}
	return folder{c, root, handle}, nil
}

func (c calls) enterHandle(at *os.Root, handle *os.File) (folder, error) {
	root, err := at.OpenRoot(".")
	if err != nil {
		handle.Close()
		return folder{}, err
	}
	return folder{c, root, handle}, nil
}

// walk enters dir one name at a time.
func (c calls) walk(dir workspace.Path, create bool) (f folder, made []string, err error) {
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
	return folder{c, at, handle}, made, nil
}

func (c calls) enter(at *os.Root, name string, create bool) (next *os.Root, isNew bool, err error) {
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
func (c calls) makeFolder(at *os.Root, name string) (made bool, err error) {
	if err := c.try("mkdir", func() error { return at.Mkdir(name, 0o777) }); err != nil {
		return false, err
	}
	handle, err := at.Open(".")
	if err == nil {
		err = folder{calls: c, handle: handle}.sync()
		handle.Close()
	}
	if err != nil {
		gone := c.removeAt(at, name)
		return gone != nil, errors.Join(err, gone) // who called removes it, or tells of it
	}
	return true, nil
}

// toMake are the folders of dir that are not there, outermost first.
func toMake(dir workspace.Path) (out []string) {
	for ; !dir.IsRoot() && !dir.Exists(); dir = dir.Dir() {
		out = append(out, dir.Abs())
	}
	slices.Reverse(out)
	return out
}

// unmakeFolders removes folders that were made, in the workspace folder of in.
func (c *Committer) unmakeFolders(in workspace.Path, made []string, left *remains) {
	for _, name := range slices.Backward(made) {
		at, err := c.Documents.Workspace().Resolve(filepath.Join(in.RootDir(), name))
		if err == nil {
			left.folder(at, c.calls.removeAt(in.Root(), name))
		}
	}
}

// cause is err without the path that the system adds to it.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (f folder) close() {
	f.root.Close()
	f.handle.Close()
}

// sync makes what was done to the names last. Where the system has no such call none
// is needed.
func (f folder) sync() error {
	err := f.calls.sync(f.handle)
	if isNoSync(err) {
		return nil
	}
	return err
}

func isNoSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}

// exchange swaps two names of the folder, in one step where the system can. Where it
// cannot, expected is asked about b at the last moment.
func (f folder) exchange(a, b string, expected func() error) error {
	err := f.try("rename", func() error { return exchange(f.handle, a, f.handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := expected(); err != nil {
		return err
	}
	return f.swap(a, b)
}

// anything is expected where what comes out is looked at afterwards.
func anything() error { return nil }

// swap gives b's file another name first, so that nothing is lost, and then
// renames a over b.
func (f folder) swap(a, b string) error {
	kept := a + ".old"
	if err := f.keep(b, kept); err != nil {
		return err
	}
	if err := f.try("plain rename", func() error { return f.root.Rename(a, b) }); err != nil {
		return errors.Join(err, f.removeOne(kept)) // b still is what it is
	}
	return f.try("plain rename", func() error { return f.root.Rename(kept, a) })
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
	err := f.try("rename", func() error { return renameNoReplace(f.handle, a, f.handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	switch err = f.root.Link(a, b); {
	case err == nil:
		if err = f.removeOne(a); err != nil {
			err = errors.Join(err, f.removeOne(b)) // a is what it was
		}
		return err
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
	err := f.try("rename", func() error { return renameNoReplace(f.handle, a, to.handle, b) })
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
	err := f.try("rename", func() error { return exchange(f.handle, a, to.handle, b) })
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	kept := newTemp()
	if err := to.giveTo(b, f, kept); err != nil {
		return err
	}
	if err := f.giveTo(a, to, b); err != nil {
		return errors.Join(err, f.giveTo(kept, to, b))
	}
	return f.giveTo(kept, f, a)
}
