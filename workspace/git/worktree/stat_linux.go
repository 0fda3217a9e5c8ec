package worktree

import (
	"io/fs"
	"syscall"
)

// identity returns what the index keeps of a file beyond size and mtime.
func identity(info fs.FileInfo) (changed timestamp, inode uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return timestamp{}, 0, false
	}
	return timestamp{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}, uint32(st.Ino), true
}
