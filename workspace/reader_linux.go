package workspace

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// folderHandle is a workspace folder, open.
type folderHandle struct{ top *os.File }

func (h *folderHandle) open(top Path) (err error) {
	h.top, err = top.root.fs().OpenFile(".", os.O_RDONLY|dirFlags, 0)
	return err
}

func (h *folderHandle) close() { h.top.Close() }

// read opens, looks, reads and closes: four calls for most files. Where it has not
// answered, the file is to be read another way.
func (r *FileReader) read(p Path, limit int64) (data []byte, stamp FileStamp, answered bool, err error) {
	fd, answered, err := openBeneath(r.folder.top, p.rel, unix.O_NOCTTY)
	if err != nil || !answered {
		return nil, FileStamp{}, answered && !errors.Is(err, unix.ELOOP), err
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, FileStamp{}, false, nil
	}
	stamp = stampFrom(&info)
	if info.Size > limit {
		return nil, stamp, true, TooLarge(p, info.Size, limit)
	}
	if int64(len(r.buffer)) <= info.Size {
		r.buffer = make([]byte, info.Size+info.Size/4+1)
	}
	n := 0
	for {
		got, err := unix.Read(fd, r.buffer[n:])
		switch {
		case err == unix.EINTR: //nolint:errorlint // the system's own
			continue
		case err != nil:
			return nil, stamp, false, nil // it says better what is wrong
		}
		n += got
		switch {
		case got == 0 || int64(n) == info.Size:
			return r.buffer[:n], stamp, true, nil
		case int64(n) > info.Size: // it grows while it is read, or lies about its size
			return nil, stamp, false, nil
		}
	}
}

func (h *folderHandle) stamp(rel string) (FileStamp, bool) {
	var info unix.Stat_t
	err := unix.Fstatat(int(h.top.Fd()), rel, &info, unix.AT_SYMLINK_NOFOLLOW)
	runtime.KeepAlive(h.top)
	if err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		return FileStamp{}, false
	}
	return stampFrom(&info), true
}

func stampFrom(info *unix.Stat_t) FileStamp {
	return FileStamp{Size: info.Size, Modified: info.Mtim.Nano(), Changed: info.Ctim.Nano(), Inode: info.Ino, Names: uint32(info.Nlink), Mode: info.Mode & 0o777} //nolint:gosec // a count
}
