//go:build !unix

package gitfile

import "io/fs"

// NonBlocking is nothing where opening a file cannot wait.
const NonBlocking = 0

func IsNotDir(error) bool { return false }

func names(fs.FileInfo) uint64 { return 1 }
