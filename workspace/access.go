package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
)

// Stat describes what p leads to, following links inside the folder.
func (p Path) Stat() (fs.FileInfo, error) {
	info, err := p.root.fs().Stat(filepath.FromSlash(p.rel))
	return info, p.fault(err)
}

// Identity is the same for a file wherever it is moved to, "" where there is none or the system does not tell.
func (p Path) Identity() string {
	info, err := p.Stat()
	if err != nil {
		return ""
	}
	if facts := factsOf(info); facts.inode != 0 {
		return fmt.Sprintf("%x:%x", facts.device, facts.inode)
	}
	return ""
}

// Lstat describes the entry p itself.
func (p Path) Lstat() (fs.FileInfo, error) {
	info, err := p.root.fs().Lstat(filepath.FromSlash(p.rel))
	return info, p.fault(err)
}

// Standing describes the entry p by its whole name, nil if there is none. It is for what is said of thousands,
// and nothing else rests on it: a link on the way is followed, wherever it leads.
func (p Path) Standing() fs.FileInfo {
	info, err := os.Lstat(p.Abs())
	if err != nil {
		return nil
	}
	return info
}

// OpenFile opens a regular file for reading. It never blocks: a FIFO, a device
// or a socket gives NOT_A_FILE, judged on the opened handle and not on the name.
func (p Path) OpenFile() (*os.File, fs.FileInfo, error) {
	f, err := p.root.fs().OpenFile(filepath.FromSlash(p.rel), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, p.fault(p.notAFile(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = p.kindFault(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, p.fault(err)
	}
	return f, info, nil
}

// ReadFile reads a whole regular file of at most limit bytes; a longer one is
// FILE_TOO_LARGE.
func (p Path) ReadFile(limit int64) ([]byte, fs.FileInfo, error) {
	data, _, info, err := p.ReadFileUnless("", limit)
	return data, info, err
}

// ReadFileUnless is ReadFile for who knows what is likely to be there: it gives no
// data, but same, where the file holds just that. Nothing is known by "".
func (p Path) ReadFileUnless(known string, limit int64) (data []byte, same bool, info fs.FileInfo, err error) {
	f, info, err := p.OpenFile()
	if err != nil {
		return nil, false, nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, false, info, TooLarge(p, info.Size(), limit)
	}
	if known != "" && int64(len(known)) == info.Size() && Holds(f, known) {
		return nil, true, info, nil
	}
	data = make([]byte, 0, info.Size()+1)
	data, err = readAll(io.LimitReader(f, limit+1), data)
	switch {
	case err != nil:
		return nil, false, info, p.fault(err)
	case int64(len(data)) > limit: // it grew while it was read, or lies about its size
		return nil, false, info, TooLarge(p, int64(len(data)), limit)
	}
	return data, false, info, nil
}

// Holds reads a file from its beginning, piece by piece, to tell whether it holds just
// these bytes. It may say no because it could not be read.
func Holds(f *os.File, known string) bool {
	piece := pieces.Get().(*[64 << 10]byte) //nolint:forcetypeassert // nothing else is put there
	defer pieces.Put(piece)
	for at := 0; ; {
		n, err := f.ReadAt(piece[:], int64(at))
		if n > len(known)-at || string(piece[:n]) != known[at:at+n] {
			return false
		}
		at += n
		switch {
		case errors.Is(err, io.EOF):
			return at == len(known)
		case err != nil:
			return false
		}
	}
}

var pieces = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// readAll is io.ReadAll into a buffer of the expected size, so that a file is
// read with one allocation.
func readAll(r io.Reader, buf []byte) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// ReadDir lists a folder in the order of names. It never blocks on what is not a
// folder.
func (p Path) ReadDir() ([]fs.DirEntry, error) {
	entries, err := p.readEntries()
	if err != nil {
		return nil, p.fault(p.notAFolder(err))
	}
	return entries, nil
}

// readEntries does not go through fs.FS, which refuses names that are not UTF-8
// and waits for the other end of a FIFO.
func (p Path) readEntries() ([]fs.DirEntry, error) {
	f, err := p.root.fs().OpenFile(filepath.FromSlash(p.rel), os.O_RDONLY|dirFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := entriesIn(f, p)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// notAFolder says so where that is why p could not be listed.
func (p Path) notAFolder(err error) error {
	info, statErr := p.root.fs().Stat(filepath.FromSlash(p.rel))
	switch {
	case statErr != nil || info.IsDir():
		return err
	case info.Mode().IsRegular():
		return fault.New(fault.NotAFile, "%s is a file, not a folder; read it with read_file", fault.Quote(p.String()))
	}
	return p.kindFault(info)
}

// Root gives package change the handle to write through. Nobody else writes.
func (p Path) Root() *os.Root { return p.root.fs() }

// escapes recognises the one error of os.Root that has no exported value.
func escapes(err error) bool {
	var pathErr *fs.PathError
	return errors.As(err, &pathErr) && pathErr.Err.Error() == "path escapes from parent"
}

// fault turns an access error into what an agent is told. The path in it is the
// one that the agent knows, not the operating system's.
func (p Path) fault(err error) error {
	var known *fault.Error
	name := fault.Quote(p.String())
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return p.notFound()
	case escapes(err):
		return p.linkOutside()
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "permission denied: %s", name)
	case isNameTooLong(err):
		return fault.New(fault.InvalidPath, "a name in %s is longer than the file system allows", name)
	case isNotDir(err):
		return fault.New(fault.FileNotFound, "%s does not exist: a part of the path is a file, not a folder", name)
	}
	return fault.New(fault.ExecutionFailed, "%s could not be read: %s", name, reason(err))
}

// reason drops the absolute path that the operating system puts before it.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// notAFile names what stands there when opening it for reading failed for its kind.
func (p Path) notAFile(err error) error {
	info, statErr := p.root.fs().Stat(filepath.FromSlash(p.rel))
	if statErr != nil || info.Mode().IsRegular() {
		return err
	}
	return p.kindFault(info)
}

func (p Path) kindFault(info fs.FileInfo) error {
	name := fault.Quote(p.String())
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fault.New(fault.NotAFile, "%s is a folder; list it with list_files", name)
	case mode&fs.ModeNamedPipe != 0:
		return fault.New(fault.NotAFile, "%s is a named pipe, not a regular file", name)
	case mode&fs.ModeSocket != 0:
		return fault.New(fault.NotAFile, "%s is a socket, not a regular file", name)
	}
	return fault.New(fault.NotAFile, "%s is a device, not a regular file", name)
}

// TooLarge is the refusal of a file over a limit, with both numbers.
func TooLarge(p Path, size, limit int64) *fault.Error {
	return fault.New(fault.FileTooLarge, "%s has %d bytes, over the limit of %d", fault.Quote(p.String()), size, limit).
		With("size", size).With("limit", limit)
}

// Exists reports whether there is an entry at p, whatever it is.
func (p Path) Exists() bool {
	_, err := p.root.fs().Lstat(filepath.FromSlash(p.rel))
	return err == nil
}
