package workspace

import (
	"io/fs"
	"syscall"
	"time"
)

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
