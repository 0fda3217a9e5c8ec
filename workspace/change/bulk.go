package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/handle"
)

// Bulk is an entry that is moved into the workspace, or goes, and of which the journal has nothing: what builds make.
type Bulk struct {
	Path workspace.Path
	Gone bool        // it goes; a folder if nothing is in it
	From string      // where else it is, absolute, through no link
	Mode fs.FileMode // what it is
	Was  fs.FileInfo // what is at Path; nil: nothing, or a folder that goes before
}

// isStill says whether what is at the path is what is to be replaced. That one of its other names went does not count.
func (b Bulk) isStill(at handle.Folder) bool {
	now, err := at.Root.Lstat(b.Path.Base())
	if b.Was == nil || err != nil {
		return err != nil || b.Mode.IsDir()
	}
	return os.SameFile(now, b.Was) && (now.IsDir() || now.ModTime().Equal(b.Was.ModTime()) && now.Size() == b.Was.Size())
}

// MoveIn makes these one after the other, a folder before what is in it, and says of each that it could not make why. Only the name of
// what is replaced is taken: its other names keep what it holds.
func (c *Committer) MoveIn(ctx context.Context, all []Bulk, failed func(workspace.Path, error)) {
	var from, to place
	defer from.close()
	defer to.close()
	calls := c.system()
	calls.Unsynced = true // it can be built again
	for _, b := range all {
		err := ctx.Err()
		if err == nil {
			err = to.enter(b.Path.Dir().Abs(), func() (f handle.Folder, err error) {
				f, _, err = calls.OpenFolder(b.Path.Dir(), !b.Gone)
				return f, err
			})
		}
		if err == nil && !b.Gone && !b.Mode.IsDir() {
			err = from.enter(filepath.Dir(b.From), func() (handle.Folder, error) { return calls.OpenOwn(filepath.Dir(b.From)) })
		}
		if err == nil && !b.isStill(to.Folder) {
			err = moved(fault.Quote(b.Path.String()))
		}
		if err == nil {
			err = b.move(from.Folder, to.Folder)
		}
		if err != nil && (!b.Gone || !errors.Is(err, fs.ErrNotExist)) {
			failed(b.Path, err)
		}
	}
}

// place is the folder that was used last.
type place struct {
	handle.Folder
	dir string
}

func (p *place) enter(dir string, open func() (handle.Folder, error)) (err error) {
	if p.dir == dir {
		return nil
	}
	p.close()
	if p.Folder, err = open(); err == nil {
		p.dir = dir
	}
	return err
}

func (p *place) close() {
	if p.dir != "" {
		p.dir = ""
		p.Close()
	}
}

func (b Bulk) move(from, to handle.Folder) error {
	name := b.Path.Base()
	switch {
	case b.Gone:
		err := to.RemoveOne(name)
		if handle.IsNotEmpty(err) {
			return nil // what stays in it was said
		}
		return err
	case b.Mode.IsDir():
		err := to.Root.Mkdir(name, b.Mode.Perm()|0o700)
		if info, _ := to.Root.Lstat(name); errors.Is(err, fs.ErrExist) && info != nil && info.IsDir() { //nolint:errcheck // then it is none
			return nil
		}
		return err
	case !b.Mode.IsRegular() && b.Mode&fs.ModeSymlink == 0:
		return fault.New(fault.NotAFile, "it is neither file, folder nor link")
	}
	err := from.Replace(filepath.Base(b.From), to, name)
	if !errors.Is(err, handle.ErrOtherDisk) {
		return err
	}
	temp := workspace.NewTemp()
	if err = b.copy(from, to, temp); err == nil {
		err = to.Root.Rename(temp, name)
	}
	if err != nil {
		err = errors.Join(err, to.RemoveOne(temp))
	}
	return err
}

// copy makes the entry with its time, by which builds know what is new.
func (b Bulk) copy(from, to handle.Folder, temp string) error {
	name := filepath.Base(b.From)
	if b.Mode&fs.ModeSymlink != 0 {
		link, err := from.Root.Readlink(name)
		if err != nil {
			return err
		}
		return to.Root.Symlink(link, temp)
	}
	info, file, err := from.OpenRegular(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := to.Fill(temp, file, b.Mode.Perm(), false); err != nil {
		return err
	}
	return to.Root.Chtimes(temp, info.ModTime(), info.ModTime())
}
