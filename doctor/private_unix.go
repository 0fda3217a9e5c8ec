//go:build unix

package doctor

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isOurs reports whether the file belongs to this user.
func isOurs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// isWritable reports whether this user may make files in the folder.
func isWritable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// others are the bits of the mode that let others in, of those asked for.
func others(info os.FileInfo, bits os.FileMode) os.FileMode { return info.Mode().Perm() & bits }
