package draft

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pillion/tools"
	"pillion/workspace/layer"
)

// What a file had before the draft changed it is its base: what the user and the draft have made of it since can then be
// merged. It is kept after each call that may have changed something.

// mostBases is of how many files; of what has more nobody reviews each.
const mostBases = 5000

// unsure is how long before the start of a sidecar a file must have been changed last, that what it has now is what calls see.
const unsure = 20 * time.Millisecond

// in gives a path's name in one of the folders, if it lies there.
func (d *draft) in(i int, path string) (rel string, inside bool) {
	rel, err := filepath.Rel(d.Folders[i], path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

func (d *draft) bases(i int) string { return filepath.Join(d.dir, "base", strconv.Itoa(i)) }

// keepBases keeps those of files that were changed for the first time, in this life of the draft's sidecar.
func (d *draft) keepBases(ctx context.Context, h *host) {
	err := d.each(ctx, func(i int, c layer.Change) error {
		if c.Was == nil || !c.Was.Mode().IsRegular() || h.had[filepath.Join(d.Folders[i], c.Rel)] || layer.ChangedAt(c.Was) > h.started.Add(-unsure).UnixNano() {
			return nil // there is none, or what it was is not known: then it is not merged
		}
		if _, err := os.Lstat(filepath.Join(d.bases(i), c.Rel)); errors.Is(err, fs.ErrNotExist) {
			return d.keepBase(i, c.Rel, c.Was)
		}
		return nil
	})
	if err != nil {
		d.set.o.Logf("what files had before a draft changed them is not kept: %v", err)
	}
}

// changed are the absolute paths of what is changed.
func (d *draft) changed() (map[string]bool, error) {
	out := map[string]bool{}
	return out, d.each(context.Background(), func(i int, c layer.Change) error {
		out[filepath.Join(d.Folders[i], c.Rel)] = true
		return nil
	})
}

func (d *draft) each(ctx context.Context, do func(i int, c layer.Change) error) (failed error) {
	_, kept := d.layers()
	for i, l := range kept {
		changes, err := layer.Changes(ctx, l.Folder, l.Changes, mostBases, func(rel string) bool { return d.set.o.Ignored(filepath.Join(l.Folder, rel)) })
		if err != nil && !errors.Is(err, layer.ErrTooMany) {
			failed = errors.Join(failed, err)
		}
		for _, c := range changes {
			if !c.Built {
				failed = errors.Join(failed, do(i, c))
			}
		}
	}
	return failed
}

// keepBase keeps what a file has, if it is still as was says.
func (d *draft) keepBase(i int, rel string, was fs.FileInfo) error {
	file, err := layer.Open(d.Folders[i], rel)
	if err != nil {
		return err
	}
	defer file.Close()
	err = write(filepath.Join(d.bases(i), rel), file, was.Mode().Perm()|0o600)
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
func (d *draft) base(path string) *layer.Base {
	for i := range d.Folders {
		rel, inside := d.in(i, path)
		if !inside {
			continue
		}
		file := filepath.Join(d.bases(i), rel)
		data, err := os.ReadFile(file)
		info, statErr := os.Stat(file)
		if err == nil && statErr == nil {
			return &layer.Base{Data: data, Mode: info.Mode()}
		}
	}
	return nil
}

// refresh has the draft show what nobody has changed in it as it is in the folders now, with what the user has not saved.
// Nothing is mounted.
func (d *draft) refresh(unsaved map[string][]byte) error {
	_, kept := d.layers()
	var failed error
	for i, l := range kept {
		failed = errors.Join(failed, l.Prune(d.bases(i)))
		for path, text := range unsaved {
			if rel, inside := d.in(i, path); inside {
				failed = errors.Join(failed, d.seed(i, rel, text))
			}
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
	return d.leave(i, rel, tools.Rest{Data: text, Base: text})
}

// settled is Settle. Nothing is mounted.
func (d *draft) settled(gone []string, left map[string]tools.Rest) error {
	_, kept := d.layers()
	left = maps.Clone(left)
	var failed error
	for i, l := range kept {
		var dropped []string
		for _, path := range gone {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || !l.Hides(path) {
				dropped = append(dropped, path)
				continue
			}
			data, err := os.ReadFile(path) // without an entry of its own the draft would have none
			failed = errors.Join(failed, err)
			left[path] = tools.Rest{Data: data, Base: data}
		}
		failed = errors.Join(failed, l.Drop(dropped))
		for _, path := range gone {
			if rel, inside := d.in(i, path); inside {
				failed = errors.Join(failed, os.RemoveAll(filepath.Join(d.bases(i), rel)))
			}
		}
		for path, rest := range left {
			if rel, inside := d.in(i, path); inside {
				failed = errors.Join(failed, d.leave(i, rel, rest))
			}
		}
	}
	return failed
}

// leave has a file of the draft be as given.
func (d *draft) leave(i int, rel string, rest tools.Rest) error {
	was, err := os.Lstat(filepath.Join(d.Folders[i], rel))
	if err != nil {
		return err
	}
	file, mode := filepath.Join(d.changes(i), rel), was.Mode().Perm()
	if is, err := os.Lstat(file); err == nil {
		mode = is.Mode().Perm()
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	base := filepath.Join(d.bases(i), rel)
	if err := os.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(write(file, bytes.NewReader(rest.Data), 0o600), os.Chmod(file, mode), write(base, bytes.NewReader(rest.Base), was.Mode().Perm()|0o600))
}
