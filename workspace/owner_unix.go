//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// LosesOwner names the user whose file would be this process's own if it were replaced, "" where the
// owner can be kept, or is the same: only root gives files away.
func LosesOwner(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return losesOwner(int(stat.Uid), os.Geteuid())
}

func losesOwner(owner, own int) string {
	if owner == own || own == 0 {
		return ""
	}
	number := strconv.Itoa(owner)
	if known, err := user.LookupId(number); err == nil {
		return known.Username
	}
	return "user " + number
}

// ownerOf is the number of the user that the file belongs to.
func ownerOf(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(stat.Uid), 10)
	}
	return ""
}

// NamesOf is how many names a file has.
func NamesOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // of another size elsewhere
	}
	return 1
}
