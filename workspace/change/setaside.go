package change

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"pillion/internal/fault"
	"pillion/workspace"
)

// setAside gives the entry name the name temp, which nobody knows, if it is as
// planned. In the end it either has that name, or its own.
func (f folder) setAside(name, temp string, planned workspace.Tree) error {
	return f.setAsideThen(name, temp, planned, f.sync)
}

func (f folder) setAsideThen(name, temp string, planned workspace.Tree, sync func() error) error {
	if err := still(planned, f, name); err != nil {
		return err
	}
	if err := f.give(name, temp); err != nil {
		return err
	}
	err := f.checkQuiet(temp, planned)
	if err == nil { // what was written until then counts
		err = still(planned, f, temp)
	}
	if err == nil {
		err = sync()
	}
	if err == nil {
		return nil
	}
	if now := f.giveVisible(temp, name); now != name {
		return fault.New(fault.ExecutionFailed, "%s could not be restored; it is now called %s", fault.Quote(name), fault.Quote(now))
	}
	return err
}

// checkQuiet refuses to take away a file that somebody is writing to.
func (f folder) checkQuiet(name string, tree workspace.Tree) error {
	for _, n := range tree.Nodes {
		if !n.Mode.IsRegular() {
			continue
		}
		at := name
		if n.Rel != "." {
			at += "/" + n.Rel
		}
		_, file, err := f.openRegular(at)
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

// putBack undoes setAside. Where somebody has taken the name since, it gets one like it.
func (f folder) putBack(temp string, at workspace.Path) error {
	if now := f.giveVisible(temp, at.Base()); now != at.Base() {
		return fault.New(fault.ExecutionFailed, "%s could not be restored; it is in %s", fault.Quote(at.String()), fault.Quote(at.Dir().Join(now).String()))
	}
	f.sync() //nolint:errcheck // there is nothing else to go back to
	return nil
}

// remove removes what was set aside. A folder that may not be written is made so
// first: it is nobody's any more.
func (f folder) remove(temp string) error {
	if temp == "" {
		return nil
	}
	err := f.removeAll(temp)
	if err == nil {
		return nil
	}
	tree, failed := workspace.TreeAt(f.root, temp)
	if failed != nil {
		return err
	}
	for _, n := range tree.Nodes {
		f.open(temp, n)
	}
	return f.removeAll(temp)
}

func (f folder) removeAll(name string) error {
	return f.try("remove", func() error { return f.root.RemoveAll(name) })
}

// removeOne removes one entry. None is as good.
func (f folder) removeOne(name string) error { return f.removeAt(f.root, name) }

func (c calls) removeAt(at *os.Root, name string) error {
	err := c.try("remove", func() error { return at.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkRemovable refuses a folder of which something could not be removed, as far as the
// system tells before it is tried: somebody else's folders, and what is made immutable.
func (f folder) checkRemovable(p workspace.Path, tree workspace.Tree) error {
	for i, n := range tree.Nodes {
		if i == 0 && !n.Mode.IsDir() || n.Mode.IsDir() && !hasEntries(tree, i) {
			continue // the name itself is given another one first
		}
		if err := checkMayGo(f.handle, path.Join(p.Base(), n.Rel), n.Mode); err != nil {
			return fault.New(fault.PermissionDenied, "%s cannot be removed (%w); nothing was changed", fault.Quote(p.Join(n.Rel).String()), err).
				WithHint("ask the user to remove it, or leave it out")
		}
	}
	return nil
}

// removeTree removes what was set aside, and nothing else: a program that stands in
// one of the folders may have put something there since. It fails where anything is
// left, with the first reason.
func (f folder) removeTree(temp string, tree workspace.Tree) (err error) {
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
	if top := tree.Top(); !top.Mode.IsDir() && !top.StillIn(f.root, temp) {
		return errWritten
	}
	last := f.removeOne(temp)
	switch err = cmp.Or(err, last); {
	case last == nil:
		return nil
	case isNotEmpty(err):
		return errWritten
	}
	return err
}

// errWritten: it is not what was to be removed.
var errWritten = errors.New("somebody wrote into it while it was removed")

// open makes a folder one that may be written: it is nobody's any more.
func (f folder) open(temp string, n workspace.Node) {
	if n.Mode.IsDir() && n.Mode.Perm()&0o700 != 0o700 {
		f.root.Chmod(path.Join(temp, n.Rel), 0o700) //nolint:errcheck // then it stays
	}
}

// empty removes these entries of a folder, as far as they are what they were.
func (f folder) empty(name string, nodes []workspace.Node) (err error) {
	dir, err := f.root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, n := range nodes {
		base, failed := path.Base(n.Rel), error(nil)
		if n.Mode.IsDir() || n.StillIn(dir, base) {
			failed = f.removeAt(dir, base) // a folder that is not empty stays, with all above it
		} else if _, gone := dir.Lstat(base); gone == nil {
			failed = errWritten
		}
		err = cmp.Or(err, failed)
	}
	return err
}

// giveVisible gives what is called temp its own name back, or one like it.
func (f folder) giveVisible(temp, own string) string {
	name := own
	for i := 1; f.give(temp, name) != nil; i++ {
		if i > 100 {
			return temp
		}
		name = fmt.Sprintf("%s.kept%d", own, i)
	}
	return name
}

// keep gives what could not be removed a name that people see, in the folder dir, which
// f is, and notes what that is.
func (c *Committer) keep(f folder, dir workspace.Path, temp string, was workspace.Path, why error, left *remains) {
	name := f.giveVisible(temp, was.Base())
	left.tree(f, dir.Join(name), name == temp, why)
	if errors.Is(why, errWritten) {
		c.Journal.report(fmt.Sprintf("somebody wrote into %s while it was removed; their text is in %s", fault.Quote(was.String()), fault.Quote(dir.Join(name).String())))
	}
}
