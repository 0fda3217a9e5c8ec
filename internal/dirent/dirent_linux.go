package dirent

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Open opens a folder by its name beneath the open folder dir. Where the system did not
// answer, err is nil and answered false: there is no openat2, it is forbidden, or
// something moved at this moment. Then the folder is to be opened another way.
func Open(dir int, name string) (fd int, answered bool, err error) {
	return open(dir, name, unix.O_DIRECTORY)
}

// OpenFile is Open for what is no folder, to be read; what it is, is to be seen to.
func OpenFile(dir int, name string) (fd int, answered bool, err error) {
	return open(dir, name, unix.O_NOCTTY)
}

func open(dir int, name string, flags uint64) (fd int, answered bool, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW | flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err = unix.Openat2(dir, name, &how)
	switch err {
	case nil:
		return fd, true, nil
	case unix.ENOENT, unix.EACCES, unix.ELOOP, unix.ENOTDIR:
		return -1, true, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return -1, false, nil
}

// Read reads what follows in the open folder fd into buffer; 0 is the end.
func Read(fd int, buffer []byte) (int, error) {
	for {
		n, err := unix.Getdents(fd, buffer)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, &fs.PathError{Op: "readdir", Err: err}
		default:
			return max(n, 0), nil
		}
	}
}

// Entries goes through what Read filled a buffer with, but for "." and "..".
type Entries struct {
	Name string
	Type byte // unix.DT_REG, …; unix.DT_UNKNOWN where the file system does not say

	buf   []byte
	names string // buf, one piece of memory for all names
	at    int
}

// In is before the first entry.
func In(buf []byte) Entries { return Entries{buf: buf, names: string(buf)} }

// Next goes to the next entry, if there is one. It reads struct linux_dirent64: inode and
// offset of eight bytes each, the entry's length of two, its type of one, and the name up
// to a zero.
func (e *Entries) Next() bool {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for e.at+nameAt < len(e.buf) {
		at := e.at
		e.at += int(binary.NativeEndian.Uint16(e.buf[at+lengthAt:]))
		end := bytes.IndexByte(e.buf[at+nameAt:e.at], 0)
		name := e.names[at+nameAt : at+nameAt+max(end, 0)]
		if end > 0 && name != "." && name != ".." {
			e.Name, e.Type = name, e.buf[at+typeAt]
			return true
		}
	}
	return false
}
