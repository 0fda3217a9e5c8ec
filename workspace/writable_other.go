//go:build !linux && !darwin

package workspace

import "io/fs"

// ReadOnly reports whether the file at p, which info is of, may not be written to.
func (p Path) ReadOnly(info fs.FileInfo) bool { return info.Mode().Perm()&0o200 == 0 }
