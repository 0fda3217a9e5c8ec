package draft

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pillion/workspace/layer"
)

// What a file had before the draft changed it is its base: what the user and the draft have made of it since can then be
// merged. It is kept after each call that may have changed something.

// mostBases is of how many files; of what has more nobody reviews each.
const mostBases = 5000

// unsure is how long before a call a file must have been changed last, that what it has now is what the call saw.
const unsure = 20 * time.Millisecond

func (d *draft) bases(i int) string { return filepath.Join(d.dir, "base", strconv.Itoa(i)) }

// keepBases keeps those of files that were changed since started for the first time.
func (d *draft) keepBases(ctx context.Context, started time.Time) {
	_, kept := d.layers()
	for i, l := range kept {
		changes, err := layer.Changes(ctx, l.Folder, l.Changes, mostBases, nil)
		if err != nil && !errors.Is(err, layer.ErrTooMany) {
			d.set.o.Logf("a draft cannot be looked at: %v", err)
			continue
		}
		for _, c := range changes {
			if c.Was == nil || !c.Was.Mode().IsRegular() || layer.ChangedAt(c.Was) > started.Add(-unsure).UnixNano() {
				continue // there is none, or what it was is not known: then it is not merged
			}
			if _, err := os.Lstat(filepath.Join(d.bases(i), c.Rel)); errors.Is(err, fs.ErrNotExist) {
				if err := d.keepBase(i, c.Rel, c.Was); err != nil {
					d.set.o.Logf("what a file had before a draft changed it is not kept: %v", err)
				}
			}
		}
	}
}

// keepBase keeps what a file has, if it is still as was says.
func (d *draft) keepBase(i int, rel string, was fs.FileInfo) error {
	file, err := layer.Open(d.Folders[i], rel)
	if err != nil {
		return err
	}
	defer file.Close()
	err = write(filepath.Join(d.bases(i), rel), file, 0o600)
	if now, statErr := file.Stat(); err == nil && (statErr != nil || now.Size() != was.Size() || layer.ChangedAt(now) != layer.ChangedAt(was)) {
		err = errors.Join(statErr, os.Remove(filepath.Join(d.bases(i), rel)))
	}
	return err
}

func write(path string, from io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// base gives what the file had: see tools.Draft.
func (d *draft) base(path string) ([]byte, bool) {
	for i, folder := range d.Folders {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
			data, err := os.ReadFile(filepath.Join(d.bases(i), rel))
			return data, err == nil
		}
	}
	return nil, false
}

// refresh has the draft show what nobody has changed in it as it is in the folders now, with what the user has not saved.
// Nothing is mounted.
func (d *draft) refresh(unsaved map[string][]byte) error {
	_, kept := d.layers()
	var failed error
	for i, l := range kept {
		failed = errors.Join(failed, l.Prune(d.bases(i)))
		for path, text := range unsaved {
			rel, err := filepath.Rel(l.Folder, path)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			failed = errors.Join(failed, d.seed(i, rel, text))
		}
	}
	return failed
}

// seed puts unsaved text into the draft, as what the file has: unless the draft has changed the file itself.
func (d *draft) seed(i int, rel string, text []byte) error {
	was, err := os.Stat(filepath.Join(d.Folders[i], rel))
	if err != nil || !was.Mode().IsRegular() {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(d.changes(i), rel)); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(d.changes(i), rel)), 0o755); err != nil {
		return nil // a folder is gone from it
	}
	_ = os.Remove(filepath.Join(d.bases(i), rel))
	file, base := filepath.Join(d.changes(i), rel), filepath.Join(d.bases(i), rel)
	if err := write(base, bytes.NewReader(text), 0o600); err != nil {
		return err
	}
	err = write(file, bytes.NewReader(text), 0o600)
	if err == nil {
		err = os.Chmod(file, was.Mode().Perm())
	}
	return err
}

// settled is Settle. Nothing is mounted.
func (d *draft) settled(gone []string, left map[string][]byte) error {
	_, kept := d.layers()
	var failed error
	for i, l := range kept {
		failed = errors.Join(failed, l.Drop(gone))
		in := func(path string) (rel string, inside bool) {
			rel, err := filepath.Rel(l.Folder, path)
			return rel, err == nil && rel != "." && filepath.IsLocal(rel)
		}
		for _, path := range gone {
			if rel, inside := in(path); inside {
				failed = errors.Join(failed, os.RemoveAll(filepath.Join(d.bases(i), rel)))
			}
		}
		for path, data := range left {
			if rel, inside := in(path); inside {
				failed = errors.Join(failed, d.leave(i, rel, data))
			}
		}
	}
	return failed
}

// leave has a file of the draft have these bytes, and stand on what the folder has.
func (d *draft) leave(i int, rel string, data []byte) error {
	was, err := os.Lstat(filepath.Join(d.Folders[i], rel))
	if err != nil {
		return err
	}
	file := filepath.Join(d.changes(i), rel)
	is, err := os.Lstat(file)
	if err != nil {
		return err
	}
	err = errors.Join(os.Remove(file), write(file, bytes.NewReader(data), 0o600), os.Chmod(file, is.Mode().Perm()))
	if removed := os.Remove(filepath.Join(d.bases(i), rel)); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return errors.Join(err, d.keepBase(i, rel, was))
}
