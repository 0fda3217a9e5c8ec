//go:build !unix

package workspace

import "io/fs"

// LosesOwner names nobody: files keep their owners here.
func LosesOwner(fs.FileInfo) string { return "" }

func ownerOf(fs.FileInfo) string { return "" }

// NamesOf is how many names a file has, where that can be told.
func NamesOf(fs.FileInfo) uint64 { return 1 }
