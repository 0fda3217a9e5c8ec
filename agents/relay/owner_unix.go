//go:build unix

package relay

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs says if a file belongs to this process's user.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
