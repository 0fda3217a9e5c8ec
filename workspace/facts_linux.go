package workspace

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isMountRoot reports whether something is mounted on the open folder, be it another
// part of the same file system. Old kernels do not tell.
func isMountRoot(f *os.File) bool {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_TYPE, &st)
	return err == nil && st.Attributes_mask&st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

func factsOf(info fs.FileInfo) systemFacts {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return systemFacts{}
	}
	return systemFacts{
		changed: time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)), //nolint:unconvert // 32 bits on some machines
		device:  uint64(st.Dev),                                     //nolint:unconvert // see above
		inode:   st.Ino,
		links:   uint64(st.Nlink), //nolint:unconvert // see above
	}
}
