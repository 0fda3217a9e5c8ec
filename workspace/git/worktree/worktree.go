package worktree

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

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// workTree reads the files of a work tree, never through a symbolic link and
// never outside its root.
type workTree struct {
	top        string
	root       func() (*os.Root, error) // of all that is read; opened when it is first asked for
	opened     *os.Root
	Strip      string          // what a path begins with that the root stands for
	folders    map[string]bool // the folders known to be real ones, or not
	Conversion conversion

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
		w.Strip = filepath.ToSlash(rel) + "/"
	}
	return w
}

func (w *workTree) close() {
	if w.opened != nil {
		_ = w.opened.Close()
	}
}

// Lstat looks at a tracked path. It gives nil where there is nothing, also
// where a link stands in place of one of its folders: git does not see behind.
func (w *workTree) Lstat(name string) (fs.FileInfo, error) {
	if !w.realFolder(path.Dir(name)) {
		return nil, nil
	}
	info, err := os.Lstat(w.Abs(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), gitfile.IsNotDir(err):
		return nil, nil
	case err != nil:
		return nil, fault.New(fault.CodeOf(err), "%s cannot be looked at: %w", fault.Quote(name), cause(err))
	}
	return info, nil
}

func (w *workTree) Abs(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

func (w *workTree) realFolder(dir string) bool {
	is, known := w.folders[dir]
	if !known {
		if is = w.realFolder(path.Dir(dir)); is {
			info, err := os.Lstat(w.Abs(dir))
			is = err == nil && info.IsDir()
		}
		w.folders[dir] = is
	}
	return is
}

// Side is one side of a comparison: a file's mode and content. The content is
// an object's, or, with onDisk, that of the work tree's file.
type Side struct {
	Mode   uint32
	Hash   plumbing.Hash
	OnDisk bool
	Dirty  bool          // a submodule with changes of its own
	Staged plumbing.Hash // of a file on disk: its content in the index, if any
}

func (s Side) Absent() bool { return s.Mode == odb.ModeAbsent }

func (s Side) Kind() uint32 { return s.Mode & odb.ModeTypeMask }

// Same reports whether nothing changed between two sides.
func (s Side) Same(t Side) bool { return s.Mode == t.Mode && s.Hash == t.Hash && s.Dirty == t.Dirty }

// Side is the work tree's file of an index entry. Where the file's times and
// size are those that the index recorded, and the index is younger, the
// content is too; else the file is read.
func (w *workTree) side(ctx context.Context, e IndexEntry, written time.Time) (Side, error) {
	info, err := w.Lstat(e.path)
	if err != nil || info == nil {
		return Side{}, err
	}
	mode := w.Mode(info, e.Mode)
	switch mode {
	case odb.ModeAbsent:
		return Side{}, nil
	case odb.ModeSubmodule:
		return w.submodule(ctx, e)
	}
	if mode == e.Mode && !e.IntentToAdd && unchanged(e, info, written) {
		return Side{Mode: mode, Hash: e.Hash}, nil
	}
	staged := e.Hash
	const base, theirs = 1, 3
	if e.IntentToAdd || e.stage == base || e.stage == theirs || e.Mode&odb.ModeTypeMask != odb.ModeFile&odb.ModeTypeMask {
		staged = plumbing.ZeroHash
	}
	s := Side{Mode: mode, OnDisk: true, Staged: staged}
	if s.Hash, err = w.Hash(e.path, s, info.Size()); err != nil {
		return Side{}, err
	}
	s.OnDisk = s.Hash != e.Hash
	return s, nil
}

// Mode is the mode that git would give a file, whose mode in the index is
// staged; modeAbsent for a folder and what git does not track.
func (w *workTree) Mode(info fs.FileInfo, staged uint32) uint32 {
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
func unchanged(e IndexEntry, info fs.FileInfo, written time.Time) bool {
	if stamp(info.ModTime()) != e.modified || uint32(info.Size()) != e.size {
		return false
	}
	if changed, inode, ok := identity(info); ok && (changed != e.changed || inode != e.inode) {
		return false
	}
	return info.ModTime().Before(written.Add(-time.Second))
}

func (w *workTree) Hash(name string, s Side, size int64) (plumbing.Hash, error) {
	if s.Mode != odb.ModeSymlink && size > odb.MaxFile {
		return w.hashLarge(name, size)
	}
	data, err := w.Content(name, s)
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

// Content is what git would store of a file on disk. It is errBig beyond
// maxFile.
func (w *workTree) Content(name string, s Side) ([]byte, error) {
	if s.Mode == odb.ModeSymlink {
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
	case s.Mode == odb.ModeSymlink:
		return data, nil
	}
	return w.Conversion.toGit(name, data, s.Staged), nil
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
	return filepath.FromSlash(strings.TrimPrefix(name, w.Strip))
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

// Content is the text that stands for a side of a diff; big is true, without
// any, for a file of more than maxFile bytes.
func (r *Checkout) Content(name string, s Side) (data []byte, big bool, err error) {
	switch {
	case s.Absent():
		return nil, false, nil
	case s.Mode == odb.ModeSubmodule:
		text := "Subproject commit " + s.Hash.String()
		if s.Dirty {
			text += "-dirty"
		}
		return []byte(text + "\n"), false, nil
	case s.OnDisk:
		data, err = r.Work.Content(name, s)
	default:
		data, err = r.Objects.Blob(s.Hash, odb.MaxFile)
	}
	if errors.Is(err, gitfile.ErrBig) {
		return nil, true, nil
	}
	return data, false, err
}
