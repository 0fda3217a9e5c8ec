package change

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// diskStep replaces a file on disk by compare-and-swap on its content: the new
// text is written beside it and synced, the two names are exchanged, and what
// was displaced is compared with what the plan was made from. If it is something
// else, the names are exchanged back.
type diskStep struct {
	file File

	data     []byte
	dir      *os.Root // the folder that holds the file
	handle   *os.File // the same folder, for sync and rename
	temp     string   // name in dir, "" when there is none
	applied  bool
	madeDirs []string // folders that stage made, outermost first
}

func (d *diskStep) name() string { return path.Base(d.file.Target.Rel()) }

func (d *diskStep) stage() error {
	var err error
	if d.data, err = d.file.After.Encode(); err != nil {
		return err
	}
	if err := d.openDir(); err != nil {
		return d.fault(err)
	}
	return d.fault(d.writeTemp())
}

func (d *diskStep) openDir() error {
	root, rel := d.file.Target.Root(), filepath.FromSlash(path.Dir(d.file.Target.Rel()))
	if d.file.CreateDirs {
		if err := d.makeDirs(root, rel); err != nil {
			return err
		}
	}
	var err error
	if d.dir, err = root.OpenRoot(rel); err != nil {
		return err
	}
	d.handle, err = d.dir.Open(".")
	return err
}

// makeDirs makes the folders above the file and remembers which were missing, so
// that a change that is not made leaves none behind.
func (d *diskStep) makeDirs(root *os.Root, rel string) error {
	for missing := rel; missing != "."; missing = filepath.Dir(missing) {
		if _, err := root.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		d.madeDirs = append([]string{missing}, d.madeDirs...)
	}
	return root.MkdirAll(rel, 0o777)
}

func (d *diskStep) writeTemp() error {
	d.temp = ".pillion-" + rand.Text() + ".tmp"
	f, err := d.dir.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		d.temp = ""
		return err
	}
	defer f.Close()
	if _, err := f.Write(d.data); err != nil {
		return err
	}
	if err := d.keepAttributes(f); err != nil {
		return err
	}
	return f.Sync()
}

// keepAttributes gives the new file the mode, owner and extended attributes of
// the one that it replaces.
func (d *diskStep) keepAttributes(f *os.File) error {
	old, err := d.dir.OpenFile(d.name(), os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if err := copyOwnership(old, f, info); err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm() | info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
}

func (d *diskStep) apply(context.Context) error {
	if d.file.Before.Exists {
		return d.replace()
	}
	err := renameNoReplace(d.handle, d.dir, d.temp, d.name())
	if errors.Is(err, fs.ErrExist) {
		return moved(d.file)
	}
	if err != nil {
		return d.fault(err)
	}
	d.temp, d.applied = "", true
	return d.fault(syncDir(d.handle))
}

func (d *diskStep) replace() error {
	if !d.isUnchanged(d.name()) { // cheap, and enough where names cannot be exchanged
		return moved(d.file)
	}
	exchanged, err := exchange(d.handle, d.dir, d.temp, d.name())
	if err != nil {
		return d.fault(err)
	}
	d.applied = true
	if !exchanged {
		d.temp = ""
		return d.fault(syncDir(d.handle))
	}
	if !d.isUnchanged(d.temp) { // somebody wrote in between: theirs goes back
		d.undo(context.Background())
		return moved(d.file)
	}
	return d.fault(syncDir(d.handle))
}

// isUnchanged compares a file in the folder with what the plan was made from.
func (d *diskStep) isUnchanged(name string) bool {
	f, err := d.dir.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != d.diskSize(info) {
		return false
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil && info.Size() > 0 {
		return false
	}
	return document.Version(data) == d.file.Before.DiskVersion
}

// diskSize is the size that the file must have; for an open buffer the plan does
// not know it, and the hash alone decides.
func (d *diskStep) diskSize(info fs.FileInfo) int64 {
	if d.file.Before.Buffer != nil {
		return info.Size()
	}
	return d.file.Before.Size
}

func (d *diskStep) undo(context.Context) {
	if !d.applied {
		return
	}
	d.applied = false
	if !d.file.Before.Exists {
		d.dir.Remove(d.name()) //nolint:errcheck // nothing is left to try
		return
	}
	if d.temp != "" {
		exchange(d.handle, d.dir, d.temp, d.name()) //nolint:errcheck // nothing is left to try
		return
	}
	d.restore()
}

// restore writes the old content back where names cannot be exchanged.
func (d *diskStep) restore() {
	back := &diskStep{file: File{Before: d.file.Before, After: d.file.Before.Content, Target: d.file.Target}}
	defer back.discard()
	if back.stage() == nil {
		exchange(back.handle, back.dir, back.temp, back.name()) //nolint:errcheck // nothing is left to try
	}
}

func (d *diskStep) finish() Outcome {
	d.madeDirs = nil
	return Outcome{
		File:      d.file,
		Operation: d.file.Operation(),
		Hunks:     d.file.Hunks(),
		Bytes:     len(d.data),
		Version:   document.Version(d.data),
		Saved:     true,
	}
}

// discard removes the temporary file, which after an exchange holds the old
// content, and the folders that a failed change made.
func (d *diskStep) discard() {
	if d.dir != nil {
		if d.temp != "" {
			d.dir.Remove(d.temp) //nolint:errcheck // swept at the next start
		}
		d.dir.Close()
	}
	if d.handle != nil {
		d.handle.Close()
	}
	for i := len(d.madeDirs) - 1; i >= 0; i-- {
		d.file.Target.Root().Remove(d.madeDirs[i]) //nolint:errcheck // not empty: somebody uses it
	}
}

func (d *diskStep) fault(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	name := fault.Quote(d.file.Path().String())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.FileNotFound, "the folder of %s does not exist; create it, or set create_dirs", name)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "permission denied: %s cannot be written", name)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fault.New(fault.ExecutionFailed, "%s could not be written: %w; it is as it was", name, err)
}
