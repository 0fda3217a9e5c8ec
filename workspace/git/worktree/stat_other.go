//go:build !linux && !darwin

package worktree

import "io/fs"

// identity has nothing beyond size and mtime to offer here.
func identity(fs.FileInfo) (changed timestamp, inode uint32, ok bool) { return timestamp{}, 0, false }
