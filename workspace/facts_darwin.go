package workspace

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// isMountRoot: other devices are told apart, which is all there is here.
func isMountRoot(*os.File) bool { return false }

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
