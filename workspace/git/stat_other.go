//go:build !linux && !darwin

package git

import "io/fs"

// identity has nothing beyond size and mtime to offer here.
func identity(fs.FileInfo) (changed timestamp, inode uint32, ok bool) { return timestamp{}, 0, false }

// owner likewise.
func owner(fs.FileInfo) (device, user, group uint32) { return 0, 0, 0 }
