package layer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Changes are what differs, a folder before what is in it: of what was taken away the top alone, and no file that was written
// as it is. What is in folders that isBuilt names is built; of that all that was taken away is there, a folder after what was
// in it. It fails with ErrTooMany where there are more than most, or too many that are built.
func Changes(ctx context.Context, folder, changes string, most int, isBuilt func(rel string) bool) ([]Change, error) {
	below, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer below.Close()
	upper, err := os.OpenRoot(changes)
	if err != nil {
		return nil, err
	}
	defer upper.Close()
	r := reader{ctx: ctx, below: below, upper: upper, most: most, mostBuilt: mostBuilt, isBuilt: isBuilt}
	return r.out, r.folder(".", true, false)
}

// mostBuilt is how many changes there may be in what builds make.
const mostBuilt = 200_000

type reader struct {
	ctx          context.Context
	below, upper *os.Root
	isBuilt      func(rel string) bool
	most         int // that may still come
	mostBuilt    int
	out          []Change
}

func (r *reader) add(c Change) error {
	left := &r.most
	if c.Built {
		left = &r.mostBuilt
	}
	if *left--; *left < 0 {
		return ErrTooMany
	}
	r.out = append(r.out, c)
	return r.ctx.Err()
}

// inBuilt says whether a folder is built: it is one that builds make, or lies in one, and is no repository.
func (r *reader) inBuilt(rel string, above bool) bool {
	if !above && (r.isBuilt == nil || !r.isBuilt(rel)) {
		return false
	}
	for _, root := range []*os.Root{r.below, r.upper} {
		if _, err := root.Lstat(path.Join(rel, ".git")); err == nil {
			return false
		}
	}
	return true
}

// folder goes through a folder of the layer; merged says that what is below shows through.
func (r *reader) folder(rel string, merged, built bool) error {
	if merged && rel != "." && r.isOpaque(rel) {
		merged = false
		if err := r.gone(rel, built); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(r.upper.FS(), rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.entry(path.Join(rel, e.Name()), merged, built); err != nil {
			return err
		}
	}
	return nil
}

// gone adds what a folder below has and the layer, which hides it, has not.
func (r *reader) gone(rel string, built bool) error {
	entries, err := fs.ReadDir(r.below.FS(), rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		if _, err := r.upper.Lstat(name); err == nil {
			continue
		}
		was, err := r.below.Lstat(name)
		if err != nil {
			continue
		}
		if err := r.addGone(Change{Rel: name, Was: was}, built); err != nil {
			return err
		}
	}
	return nil
}

// addGone adds an entry that was taken away, and before it what is in it where that is built.
func (r *reader) addGone(c Change, built bool) error {
	if c.Built = built && !c.Was.IsDir() || c.Was.IsDir() && r.inBuilt(c.Rel, built); c.Built && c.Was.IsDir() {
		entries, err := fs.ReadDir(r.below.FS(), c.Rel)
		if err != nil {
			return err
		}
		for _, e := range entries {
			one := Change{Rel: path.Join(c.Rel, e.Name())}
			if one.Was, err = r.below.Lstat(one.Rel); err != nil {
				return err
			}
			if err := r.addGone(one, true); err != nil {
				return err
			}
		}
	}
	return r.add(c)
}

func (r *reader) entry(rel string, merged, built bool) error {
	info, err := r.upper.Lstat(rel)
	if err != nil {
		return err
	}
	c := Change{Rel: rel, Is: info, Built: built}
	if was, err := r.below.Lstat(rel); err == nil {
		c.Was = was
	}
	if isWhiteout(info) {
		if c.Is = nil; c.Was == nil {
			return nil // made and taken away
		}
		return r.addGone(c, built)
	}
	if info.IsDir() {
		built = r.inBuilt(rel, built)
	}
	if c.Built && c.Was != nil && c.Was.IsDir() != info.IsDir() {
		if err := r.addGone(Change{Rel: rel, Was: c.Was}, true); err != nil {
			return err
		}
		c.Was = nil
	}
	switch {
	case info.IsDir() && c.Was != nil && c.Was.IsDir():
		return r.folder(rel, merged || r.isOpaque(rel), built)
	case info.IsDir():
		c.Built = built
		if err := r.add(c); err != nil {
			return err
		}
		return r.folder(rel, false, built)
	case info.Mode()&fs.ModeSymlink != 0:
		if c.Link, err = r.upper.Readlink(rel); err != nil {
			return err
		}
		if c.Was != nil && c.Was.Mode()&fs.ModeSymlink != 0 {
			if was, err := r.below.Readlink(rel); err == nil && was == c.Link {
				return nil
			}
		}
	case info.Mode().IsRegular() && c.Was != nil && c.Was.Mode() == info.Mode() && c.Was.Size() == info.Size():
		if same, err := r.same(rel); err != nil || same {
			return err
		}
	}
	return r.add(c)
}

// same compares what a file has with what it had.
func (r *reader) same(rel string) (bool, error) {
	var files [2]*os.File
	for i, root := range []*os.Root{r.upper, r.below} {
		f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false, err
		}
		defer f.Close()
		files[i] = f
	}
	var a, b [32 << 10]byte
	for {
		n, err := io.ReadFull(files[0], a[:])
		m, errBelow := io.ReadFull(files[1], b[:])
		switch {
		case !bytes.Equal(a[:n], b[:m]):
			return false, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil || errBelow != nil:
			return false, errors.Join(err, errBelow)
		}
	}
}

// isWhiteout says whether that is the mark of what was taken away.
func isWhiteout(info fs.FileInfo) bool {
	s, ok := stat(info)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && s.Rdev == 0
}

// isOpaque says whether a folder hides what is below it.
func (r *reader) isOpaque(rel string) bool {
	f, err := r.upper.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var value [8]byte
	n, err := unix.Fgetxattr(int(f.Fd()), opaque, value[:])
	return err == nil && strings.HasPrefix(string(value[:n]), "y")
}

// Open opens a file of a layer.
func Open(changes, rel string) (*os.File, error) {
	root, err := os.OpenRoot(changes)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Made is when a folder was made that nobody has written to yet, by the clock of ChangedAt.
func Made(folder string) int64 {
	info, err := os.Lstat(folder)
	if err != nil {
		return 0
	}
	return ChangedAt(info)
}

// inodeOf is the number of a folder, 0 of what is none.
func inodeOf(info fs.FileInfo, err error) uint64 {
	if s, ok := stat(info); err == nil && ok && info.IsDir() {
		return s.Ino
	}
	return 0
}

func stat(info fs.FileInfo) (*syscall.Stat_t, bool) {
	if info == nil {
		return nil, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return s, ok
}

// ChangedAt is when an entry was last changed in any way, in nanoseconds; nobody can set it.
func ChangedAt(info fs.FileInfo) int64 {
	s, ok := stat(info)
	if !ok {
		return 0
	}
	return s.Ctim.Nano()
}

// Drop takes what the layer has at absolute paths out of it, with what is below them: it shows again what the folder has. Nothing is
// mounted on it.
func (l Layer) Drop(paths []string) error {
	root, err := os.OpenRoot(l.Changes)
	if err != nil {
		return err
	}
	defer root.Close()
	var failed error
	for _, path := range paths {
		if rel, err := filepath.Rel(l.Folder, path); err == nil && rel != "." && filepath.IsLocal(rel) {
			failed = errors.Join(failed, root.RemoveAll(rel))
		}
	}
	return failed
}

// Prune takes out of the layer what files have in the folder anyway, and what they had that base, a folder, has of them: nobody has
// changed it. Nothing is mounted on it.
func (l Layer) Prune(base string) error {
	upper, err := os.OpenRoot(l.Changes)
	if err != nil {
		return err
	}
	defer upper.Close()
	for _, from := range []string{l.Folder, base} {
		below, err := os.OpenRoot(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer below.Close()
		r := reader{below: below, upper: upper}
		err = fs.WalkDir(upper.FS(), ".", func(rel string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && from == l.Folder {
				return r.showThrough(rel)
			}
			if !e.Type().IsRegular() || r.isHidden(rel) {
				return nil
			}
			is, err := upper.Lstat(rel)
			if err != nil {
				return err
			}
			was, err := below.Lstat(rel)
			if err != nil || !was.Mode().IsRegular() || was.Size() != is.Size() || from == l.Folder && was.Mode() != is.Mode() || (was.Mode()^is.Mode())&0o111 != 0 {
				return nil
			}
			if same, err := r.same(rel); err != nil || !same {
				return err
			}
			return upper.Remove(rel)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// showThrough has a folder of the layer hide nothing any more, where all that is below is in the layer, too.
func (r *reader) showThrough(rel string) error {
	if !r.isOpaque(rel) {
		return nil
	}
	entries, err := fs.ReadDir(r.below.FS(), rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if _, err := r.upper.Lstat(path.Join(rel, e.Name())); err != nil {
			return nil
		}
	}
	f, err := r.upper.OpenFile(rel, os.O_RDONLY|syscall.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fremovexattr(int(f.Fd()), opaque)
}

// isHidden says whether a folder above the entry hides what is below: without the entry there would be none.
func (r *reader) isHidden(rel string) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if r.isOpaque(dir) {
			return true
		}
	}
	return false
}

// Hides says whether the layer hides what the folder has at an absolute path, whatever it has there itself.
func (l Layer) Hides(at string) bool {
	rel, err := filepath.Rel(l.Folder, at)
	upper, openErr := os.OpenRoot(l.Changes)
	if err != nil || openErr != nil {
		return false
	}
	defer upper.Close()
	return (&reader{upper: upper}).isHidden(filepath.ToSlash(rel))
}

const opaque = "user.overlay.opaque"
