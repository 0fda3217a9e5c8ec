package workspace

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"pillion/internal/dirent"
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
	fd, answered, err := openBeneath(top, name)
	if err != nil {
		return nil, err
	}
	if !answered {
		if r.other, err = at.root.fs.OpenFile(at.rel, os.O_RDONLY|dirFlags, 0); err != nil {
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

func openBeneath(top *os.File, name string) (fd int, answered bool, err error) {
	raw, closed := top.SyscallConn()
	if closed == nil {
		closed = raw.Control(func(dir uintptr) { fd, answered, err = dirent.Open(int(dir), name) })
	}
	return fd, answered && closed == nil, err
}

func (r *folderReader) close() {
	if r.other != nil {
		r.other.Close()
		r.other = nil
		return
	}
	unix.Close(r.fd)
}

func (r *folderReader) list() ([]Listed, error) {
	var out []Listed
	for {
		n, err := dirent.Read(r.fd, r.buffer)
		switch {
		case err != nil:
			return nil, err
		case n == 0:
			return out, nil
		}
		out = slices.Grow(out, n/32)
		for e := dirent.In(r.buffer[:n]); e.Next(); {
			out = append(out, Listed{Name: e.Name, Type: r.typeOf(e.Type, e.Name)})
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
