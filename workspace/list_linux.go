package workspace

import (
	"encoding/binary"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// folderReader reads folders with as few system calls as there can be: one to open,
// which resolves the name beneath the folder that was opened first and follows no
// link, two to list, and one an entry for its size and time. What os.File does takes
// several times as long.
type folderReader struct {
	buffer []byte
	fd     int
	other  *os.File // instead of fd, where the system has no openat2
}

func (r *folderReader) open(top *os.File, name string, at Path) ([]Listed, error) {
	if r.buffer == nil {
		r.buffer = make([]byte, 64<<10)
	}
	fd, answered, err := openBeneath(top, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	if !answered {
		if r.other, err = at.root.fs().OpenFile(at.rel, os.O_RDONLY|dirFlags, 0); err != nil {
			return nil, err
		}
		fd = int(r.other.Fd())
	}
	r.fd = fd
	entries, err := r.list()
	if err != nil {
		r.close()
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// openBeneath opens a folder, or with other flags a file, by its name beneath the open folder
// top, for reading. Where the system did not answer, err is nil and answered false: there is no
// openat2, it is forbidden, or something moved at this moment. Then it is to be opened another way.
func openBeneath(top *os.File, name string, flags uint64) (fd int, answered bool, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW | flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err = unix.Openat2(int(top.Fd()), name, &how)
	runtime.KeepAlive(top)
	switch err {
	case nil:
		return fd, true, nil
	case unix.ENOENT, unix.EACCES, unix.ELOOP, unix.ENOTDIR:
		return -1, true, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return -1, false, nil
}

// entriesIn reads the folder at, which is open as f. That one's own ReadDir asks for
// the size and time of every entry when f was opened through an os.Root, which takes
// several times as long as all else.
func entriesIn(f *os.File, at Path) ([]fs.DirEntry, error) {
	r, _ := readers.Get().(*folderReader)
	defer readers.Put(r)
	r.fd = int(f.Fd())
	listed, err := r.list()
	out, entries := make([]fs.DirEntry, len(listed)), make([]plainEntry, len(listed))
	for i, e := range listed {
		entries[i] = plainEntry{name: e.Name, kind: e.Type, folder: at}
		out[i] = &entries[i]
	}
	return out, err
}

var readers = sync.Pool{New: func() any { return &folderReader{buffer: make([]byte, 64<<10)} }}

// plainEntry is an entry of a folder, of which nothing is known but what the folder says.
type plainEntry struct {
	name   string
	kind   fs.FileMode
	folder Path
}

func (e *plainEntry) Name() string               { return e.name }
func (e *plainEntry) IsDir() bool                { return e.kind.IsDir() }
func (e *plainEntry) Type() fs.FileMode          { return e.kind }
func (e *plainEntry) Info() (fs.FileInfo, error) { return e.folder.Join(e.name).Lstat() }

func (r *folderReader) close() {
	if r.other != nil {
		r.other.Close()
		r.other = nil
		return
	}
	unix.Close(r.fd)
}

// list reads the open folder. The system gives entries as struct linux_dirent64: inode and offset
// of eight bytes each, the entry's length of two, its type of one, and the name up to a zero.
func (r *folderReader) list() ([]Listed, error) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	var out []Listed
	for {
		n, err := unix.Getdents(r.fd, r.buffer)
		switch {
		case err == unix.EINTR: //nolint:errorlint // the system's own
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "readdir", Err: err}
		case n <= 0:
			return out, nil
		}
		out = slices.Grow(out, n/32)
		names := string(r.buffer[:n]) // one piece of memory for all names
		for at, next := 0, 0; at+nameAt < n; at = next {
			next = at + int(binary.NativeEndian.Uint16(r.buffer[at+lengthAt:]))
			name, _, _ := strings.Cut(names[at+nameAt:next], "\x00")
			if name != "" && name != "." && name != ".." {
				out = append(out, Listed{Name: name, Type: r.typeOf(r.buffer[at+typeAt], name)})
			}
		}
	}
}

func (r *folderReader) typeOf(code byte, name string) fs.FileMode {
	switch code {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.DT_BLK:
		return fs.ModeDevice
	}
	e := Listed{Name: strings.Clone(name), Type: fs.ModeIrregular} // the file system does not say
	r.stat(&e)
	return e.Type
}

func (r *folderReader) stat(e *Listed) {
	var info unix.Stat_t
	if unix.Fstatat(r.fd, e.Name, &info, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return // it is gone by now
	}
	e.modified, e.Size = info.Mtim.Nano(), info.Size
	switch info.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Type = 0
	case unix.S_IFDIR:
		e.Type, e.Size = fs.ModeDir, 0
	case unix.S_IFLNK:
		e.Type = fs.ModeSymlink
	}
}
