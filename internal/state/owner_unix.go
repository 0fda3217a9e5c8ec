//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"
)

// IsOurs says if a file belongs to this process's user.
func IsOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

func othersWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
