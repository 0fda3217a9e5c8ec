package git

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// workTree reads the files of a work tree, never through a symbolic link and
// never outside its root.
type workTree struct {
	top        string
	root       func() (*os.Root, error) // of all that is read; opened when it is first asked for
	opened     *os.Root
	strip      string          // what a path begins with that the root stands for
	folders    map[string]bool // the folders known to be real ones, or not
	conversion conversion

	fileMode, symlinks bool // core.fileMode, core.symlinks
}

func newWorkTree(top, base string) *workTree {
	w := &workTree{top: top, folders: map[string]bool{".": true}}
	w.root = sync.OnceValues(func() (*os.Root, error) {
		var err error
		w.opened, err = os.OpenRoot(base)
		return w.opened, err
	})
	if rel, err := filepath.Rel(top, base); err == nil && rel != "." {
		w.strip = filepath.ToSlash(rel) + "/"
	}
	return w
}

func (w *workTree) close() {
	if w.opened != nil {
		_ = w.opened.Close()
	}
}

// lstat looks at a tracked path. It gives nil where there is nothing, also
// where a link stands in place of one of its folders: git does not see behind.
func (w *workTree) lstat(name string) (fs.FileInfo, error) {
	if !w.realFolder(path.Dir(name)) {
		return nil, nil
	}
	info, err := os.Lstat(w.abs(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), gitfile.IsNotDir(err):
		return nil, nil
	case err != nil:
		return nil, fault.New(fault.CodeOf(err), "%s cannot be looked at: %w", fault.Quote(name), cause(err))
	}
	return info, nil
}

func (w *workTree) abs(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

func (w *workTree) realFolder(dir string) bool {
	is, known := w.folders[dir]
	if !known {
		if is = w.realFolder(path.Dir(dir)); is {
			info, err := os.Lstat(w.abs(dir))
			is = err == nil && info.IsDir()
		}
		w.folders[dir] = is
	}
	return is
}

// side is one side of a comparison: a file's mode and content. The content is
// an object's, or, with onDisk, that of the work tree's file.
type side struct {
	mode   uint32
	hash   plumbing.Hash
	onDisk bool
	dirty  bool          // a submodule with changes of its own
	staged plumbing.Hash // of a file on disk: its content in the index, if any
}

func (s side) absent() bool { return s.mode == odb.ModeAbsent }

func (s side) kind() uint32 { return s.mode & odb.ModeTypeMask }

// same reports whether nothing changed between two sides.
func (s side) same(t side) bool { return s.mode == t.mode && s.hash == t.hash && s.dirty == t.dirty }

// side is the work tree's file of an index entry. Where the file's times and
// size are those that the index recorded, and the index is younger, the
// content is too; else the file is read.
func (w *workTree) side(ctx context.Context, e indexEntry, written time.Time) (side, error) {
	info, err := w.lstat(e.path)
	if err != nil || info == nil {
		return side{}, err
	}
	mode := w.mode(info, e.mode)
	switch mode {
	case odb.ModeAbsent:
		return side{}, nil
	case odb.ModeSubmodule:
		return w.submodule(ctx, e)
	}
	if mode == e.mode && !e.intentToAdd && unchanged(e, info, written) {
		return side{mode: mode, hash: e.hash}, nil
	}
	staged := e.hash
	const base, theirs = 1, 3
	if e.intentToAdd || e.stage == base || e.stage == theirs || e.mode&odb.ModeTypeMask != odb.ModeFile&odb.ModeTypeMask {
		staged = plumbing.ZeroHash
	}
	s := side{mode: mode, onDisk: true, staged: staged}
	if s.hash, err = w.hash(e.path, s, info.Size()); err != nil {
		return side{}, err
	}
	s.onDisk = s.hash != e.hash
	return s, nil
}

// mode is the mode that git would give a file, whose mode in the index is
// staged; modeAbsent for a folder and what git does not track.
func (w *workTree) mode(info fs.FileInfo, staged uint32) uint32 {
	const ownerExecutes = 0o100
	switch kind := info.Mode().Type(); {
	case kind == fs.ModeDir && staged == odb.ModeSubmodule:
		return odb.ModeSubmodule
	case kind == fs.ModeSymlink:
		return odb.ModeSymlink
	case kind != 0:
		return odb.ModeAbsent
	case !w.symlinks && staged == odb.ModeSymlink:
		return odb.ModeSymlink
	case !w.fileMode && (staged == odb.ModeFile || staged == odb.ModeExecutable):
		return staged
	case info.Mode()&ownerExecutes != 0 && w.fileMode:
		return odb.ModeExecutable
	}
	return odb.ModeFile
}

// unchanged reports whether a file is surely the one that e recorded. A file
// modified within the second before the index was written, or later, may have
// changed since without a trace in its times.
func unchanged(e indexEntry, info fs.FileInfo, written time.Time) bool {
	if stamp(info.ModTime()) != e.modified || uint32(info.Size()) != e.size {
		return false
	}
	if changed, inode, ok := identity(info); ok && (changed != e.changed || inode != e.inode) {
		return false
	}
	return info.ModTime().Before(written.Add(-time.Second))
}

func (w *workTree) hash(name string, s side, size int64) (plumbing.Hash, error) {
	if s.mode != odb.ModeSymlink && size > odb.MaxFile {
		return w.hashLarge(name, size)
	}
	data, err := w.content(name, s)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return plumbing.ComputeHash(plumbing.BlobObject, data), nil
}

// hashLarge hashes a file without holding it in memory, as it is on disk.
func (w *workTree) hashLarge(name string, size int64) (h plumbing.Hash, err error) {
	f, err := w.open(name)
	if err != nil {
		return h, err
	}
	defer f.Close()
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", size)
	if _, err := io.Copy(sum, f); err != nil {
		return h, unreadable(name, err)
	}
	copy(h[:], sum.Sum(nil))
	return h, nil
}

// content is what git would store of a file on disk. It is errBig beyond
// maxFile.
func (w *workTree) content(name string, s side) ([]byte, error) {
	if s.mode == odb.ModeSymlink {
		target, err := w.readlink(name)
		if err == nil {
			return []byte(filepath.ToSlash(target)), nil
		}
		if w.symlinks { // without core.symlinks a file may stand for it
			return nil, unreadable(name, err)
		}
	}
	f, err := w.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := gitfile.ReadAll(io.LimitReader(f, odb.MaxFile+1), 0)
	switch {
	case err != nil:
		return nil, unreadable(name, err)
	case len(data) > odb.MaxFile:
		return nil, gitfile.ErrBig
	case s.mode == odb.ModeSymlink:
		return data, nil
	}
	return w.conversion.toGit(name, data, s.staged), nil
}

func (w *workTree) readlink(name string) (string, error) {
	root, err := w.root()
	if err != nil {
		return "", err
	}
	return root.Readlink(w.local(name))
}

// openLocal opens what the root's own name for it leads to, without waiting for anybody.
func (w *workTree) openLocal(name string) (*os.File, error) {
	root, err := w.root()
	if err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_RDONLY|gitfile.NonBlocking, 0)
}

// open opens a regular file; should it have become something else since it was
// looked at, that does not block.
func (w *workTree) open(name string) (*os.File, error) {
	f, err := w.openLocal(w.local(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, unreadable(name, errors.New("it is no regular file any more"))
	}
	return f, nil
}

func (w *workTree) local(name string) string {
	return filepath.FromSlash(strings.TrimPrefix(name, w.strip))
}

func unreadable(name string, err error) error {
	return fault.New(fault.CodeOf(err), "%s cannot be read: %w", fault.Quote(name), cause(err))
}

// cause is err without the path that the system adds to it.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
