package handle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"pillion/internal/fault"
	"pillion/workspace"
)

// SetAside gives the entry name the name temp, which nobody knows, if it is as
// planned. In the end it either has that name, or its own.
func (f Folder) SetAside(name, temp string, planned workspace.Tree) error {
	return f.SetAsideThen(name, temp, planned, f.Sync)
}

func (f Folder) SetAsideThen(name, temp string, planned workspace.Tree, sync func() error) error {
	if err := Still(planned, f, name); err != nil {
		return err
	}
	if err := f.Rename(name, temp); err != nil {
		return err
	}
	err := f.checkQuiet(temp, planned)
	if err == nil { // what was written until then counts
		err = Still(planned, f, temp)
	}
	if err == nil {
		err = sync()
	}
	if err == nil {
		return nil
	}
	if now := f.RenameVisible(temp, name); now != name {
		return fault.New(fault.ExecutionFailed, "%s could not be restored; it is now called %s", fault.Quote(name), fault.Quote(now))
	}
	return err
}

// checkQuiet refuses to take away a file that somebody is writing to.
func (f Folder) checkQuiet(name string, tree workspace.Tree) error {
	for _, n := range tree.Nodes {
		if !n.Mode.IsRegular() {
			continue
		}
		at := name
		if n.Rel != "." {
			at += "/" + n.Rel
		}
		_, file, err := f.OpenRegular(at)
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		busy, _ := f.staysBusy(file)
		file.Close()
		if busy {
			return fault.New(fault.ConcurrentModification, "another program has %s open for writing; nothing was changed", fault.Quote(n.Rel)).
				WithHint("try again when that program is done")
		}
	}
	return nil
}

// PutBack undoes SetAside. Where somebody has taken the name since, it gets one like it.
func (f Folder) PutBack(temp string, at workspace.Path) error {
	if now := f.RenameVisible(temp, at.Base()); now != at.Base() {
		return fault.New(fault.ExecutionFailed, "%s could not be restored; it is in %s", fault.Quote(at.String()), fault.Quote(at.Dir().Join(now).String()))
	}
	f.Sync() //nolint:errcheck // there is nothing else to go back to
	return nil
}

// Remove removes what was set aside. A folder that may not be written is made so
// first: it is nobody's any more.
func (f Folder) Remove(temp string) error {
	if temp == "" {
		return nil
	}
	err := f.removeAll(temp)
	if err == nil {
		return nil
	}
	tree, failed := workspace.TreeAt(f.Root, temp)
	if failed != nil {
		return err
	}
	for _, n := range tree.Nodes {
		f.open(temp, n)
	}
	return f.removeAll(temp)
}

func (f Folder) removeAll(name string) error {
	return f.Try("remove", func() error { return f.Root.RemoveAll(name) })
}

// RemoveOne removes one entry. None is as good.
func (f Folder) RemoveOne(name string) error { return f.RemoveAt(f.Root, name) }

func (c Calls) RemoveAt(at *os.Root, name string) error {
	err := c.Try("remove", func() error { return at.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// CheckRemovable refuses a folder of which something could not be removed, as far as the
// system tells before it is tried: somebody else's folders, and what is made immutable.
func (f Folder) CheckRemovable(p workspace.Path, tree workspace.Tree) error {
	for i, n := range tree.Nodes {
		if i == 0 && !n.Mode.IsDir() || n.Mode.IsDir() && !HasEntries(tree, i) {
			continue // the name itself is given another one first
		}
		if err := checkMayGo(f.Handle, path.Join(p.Base(), n.Rel), n.Mode); err != nil {
			return fault.New(fault.PermissionDenied, "%s cannot be removed (%w); nothing was changed", fault.Quote(p.Join(n.Rel).String()), err).
				WithHint("ask the user to remove it, or leave it out")
		}
	}
	return nil
}

// RemoveTree removes what was set aside, and nothing else: a program that stands in
// one of the folders may have put something there since. It fails where anything is
// left, with the first reason.
func (f Folder) RemoveTree(temp string, tree workspace.Tree) (err error) {
	inside := map[string][]workspace.Node{}
	for _, n := range tree.Nodes[1:] {
		inside[path.Dir(n.Rel)] = append(inside[path.Dir(n.Rel)], n)
		f.open(temp, n)
	}
	f.open(temp, tree.Top())
	for i := len(tree.Nodes) - 1; i >= 0; i-- { // what is in a folder before the folder
		if n := tree.Nodes[i]; n.Mode.IsDir() {
			err = cmp.Or(err, f.empty(path.Join(temp, n.Rel), inside[n.Rel]))
		}
	}
	if top := tree.Top(); !top.Mode.IsDir() && !top.StillIn(f.Root, temp) {
		return ErrWritten
	}
	last := f.RemoveOne(temp)
	switch err = cmp.Or(err, last); {
	case last == nil:
		return nil
	case IsNotEmpty(err):
		return ErrWritten
	}
	return err
}

// ErrWritten: it is not what was to be removed.
var ErrWritten = errors.New("somebody wrote into it while it was removed")

// open makes a folder one that may be written: it is nobody's any more.
func (f Folder) open(temp string, n workspace.Node) {
	if n.Mode.IsDir() && n.Mode.Perm()&0o700 != 0o700 {
		f.Root.Chmod(path.Join(temp, n.Rel), 0o700) //nolint:errcheck // then it stays
	}
}

// empty removes these entries of a folder, as far as they are what they were.
func (f Folder) empty(name string, nodes []workspace.Node) (err error) {
	dir, err := f.Root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, n := range nodes {
		base, failed := path.Base(n.Rel), error(nil)
		if n.Mode.IsDir() || n.StillIn(dir, base) {
			failed = f.RemoveAt(dir, base) // a folder that is not empty stays, with all above it
		} else if _, gone := dir.Lstat(base); gone == nil {
			failed = ErrWritten
		}
		err = cmp.Or(err, failed)
	}
	return err
}

// RenameVisible gives what is called temp its own name back, or one like it.
func (f Folder) RenameVisible(temp, own string) string {
	name := own
	for i := 1; f.Rename(temp, name) != nil; i++ {
		if i > 100 {
			return temp
		}
		name = fmt.Sprintf("%s.kept%d", own, i)
	}
	return name
}

// HasEntries: there is something in the tree's node i. A folder's entries come after it.
func HasEntries(tree workspace.Tree, i int) bool {
	rel := tree.Nodes[i].Rel
	return i+1 < len(tree.Nodes) && (rel == "." || strings.HasPrefix(tree.Nodes[i+1].Rel, rel+"/"))
}

func IsNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}

// Still fails with fs.ErrNotExist where the entry name is not what tree was.
func Still(tree workspace.Tree, f Folder, name string) error {
	same := false
	err := f.Try("look", func() (err error) {
		same, err = tree.StillAt(f.Root, name)
		return err
	})
	switch {
	case err != nil:
		return err
	case !same:
		return fs.ErrNotExist // what was planned is not there any more
	}
	return nil
}
