//go:build unix

package workspace

import (
	"io/fs"
	"strconv"
	"syscall"
)

// ownerOf is the number of the user that the file belongs to.
func ownerOf(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(stat.Uid), 10)
	}
	return ""
}
