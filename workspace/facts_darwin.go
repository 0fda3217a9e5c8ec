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
		changed: time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec),
		device:  uint64(st.Dev),
		inode:   st.Ino,
		links:   uint64(st.Nlink),
	}
}
