package worktree

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"pillion/internal/dirent"
)

// folder reads one folder of a work tree after the other, with as few system calls as
// there can be: one to open, which follows no link, two to list, and one for each file
// that is looked at. With os.File a first status of the kernel's tree takes twice git's time, and so 0.9 of it.
type folder struct {
	work   *workTree
	base   *os.File // of the work tree
	fd     int
	other  *os.File // instead of fd, where the system has no openat2
	buffer []byte
	name   [256]byte    // of what is looked at, with a zero at its end
	info   unix.Statx_t // of it
	plain  bool         // statx does not work here
}

func (w *workTree) newFolder() (*folder, error) {
	base, err := w.openLocal(".")
	if err != nil {
		return nil, err
	}
	return &folder{work: w, base: base}, nil
}

func (f *folder) end() { f.base.Close() }

// open opens the folder dir, a path of the repository that ends in a slash or is "".
func (f *folder) open(dir string) error {
	name := f.work.local(dir)
	if name == "" {
		name = "."
	}
	fd, answered, err := dirent.Open(int(f.base.Fd()), name)
	if answered {
		f.fd = fd
		return err
	}
	if f.other, err = f.work.openFolder(dir); err != nil {
		return err
	}
	f.fd = int(f.other.Fd())
	return nil
}

func (f *folder) close() {
	if f.other != nil {
		f.other.Close()
		f.other = nil
		return
	}
	unix.Close(f.fd)
}

// list adds the entries of the folder that is open to into, in no order.
func (f *folder) list(into []dirEntry) ([]dirEntry, error) {
	if f.buffer == nil {
		f.buffer = make([]byte, 64<<10)
	}
	for {
		n, err := dirent.Read(f.fd, f.buffer)
		if n == 0 || err != nil {
			return into, err
		}
		for e := dirent.In(f.buffer[:n]); e.Next(); {
			into = append(into, dirEntry{name: e.Name, kind: f.kindOf(e.Type, e.Name)})
		}
	}
}

func (f *folder) kindOf(code byte, name string) uint32 {
	switch code {
	case unix.DT_REG:
		return unix.S_IFREG
	case unix.DT_DIR:
		return unix.S_IFDIR
	case unix.DT_LNK:
		return unix.S_IFLNK
	case unix.DT_UNKNOWN: // the file system does not say
		if s, ok := f.stat(name); ok {
			return s.kind
		}
	}
	return 0
}

// stat looks at the entry name of the folder that is open.
func (f *folder) stat(name string) (fileStat, bool) {
	if len(name) >= len(f.name) || f.plain {
		return f.plainStat(name)
	}
	f.name[copy(f.name[:], name)] = 0
	for {
		_, _, err := unix.Syscall6(unix.SYS_STATX, uintptr(f.fd), uintptr(unsafe.Pointer(&f.name[0])), unix.AT_SYMLINK_NOFOLLOW,
			unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&f.info)), 0)
		switch err {
		case 0:
			i := &f.info
			return fileStat{
				kind: uint32(i.Mode) & unix.S_IFMT, executable: i.Mode&unix.S_IXUSR != 0, size: int64(i.Size), inode: uint32(i.Ino), links: uint64(i.Nlink),
				modified: timestamp{uint32(i.Mtime.Sec), i.Mtime.Nsec}, changed: timestamp{uint32(i.Ctime.Sec), i.Ctime.Nsec},
			}, true
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM: // there is no statx, or it is forbidden
			f.plain = true
			return f.plainStat(name)
		default:
			return fileStat{}, false
		}
	}
}

// plainStat is stat, as the library does it.
func (f *folder) plainStat(name string) (fileStat, bool) {
	var info unix.Stat_t
	for {
		switch err := unix.Fstatat(f.fd, name, &info, unix.AT_SYMLINK_NOFOLLOW); err {
		case nil:
			return fileStat{
				kind: info.Mode & unix.S_IFMT, executable: info.Mode&unix.S_IXUSR != 0, size: info.Size, inode: uint32(info.Ino), links: uint64(info.Nlink), //nolint:unconvert // of other types on other processors
				modified: timestamp{uint32(info.Mtim.Sec), uint32(info.Mtim.Nsec)}, changed: timestamp{uint32(info.Ctim.Sec), uint32(info.Ctim.Nsec)},
			}, true
		case unix.EINTR:
		default:
			return fileStat{}, false
		}
	}
}
