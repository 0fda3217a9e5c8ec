//go:build unix

package gitfile

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// MapOpen gives the first size bytes of a file as memory, nil where that cannot be.
func MapOpen(f *os.File, size int64) []byte {
	const most = 1 << 28 // where addresses are few
	if size <= 0 || strconv.IntSize < 64 && size > most {
		return nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return data
}

func Unmap(data []byte) {
	if data != nil {
		_ = unix.Munmap(data)
	}
}
