//go:build !unix

package workspace

import "io/fs"

const (
	openFlags = 0
	dirFlags  = 0
)

func isNameTooLong(error) bool { return false }

func isNotDir(error) bool { return false }

// LosesOwner names nobody: files keep their owners here.
func LosesOwner(fs.FileInfo) string { return "" }

func ownerOf(fs.FileInfo) string { return "" }

// ReadOnly reports whether the file at p, which info is of, may not be written to.
func (p Path) ReadOnly(info fs.FileInfo) bool { return info.Mode().Perm()&0o200 == 0 }
