//go:build !linux

package change

import (
	"io/fs"
	"os"
)

const nonBlocking = 0

// exchange renames a over b: names cannot be exchanged here.
func exchange(_ *os.File, root *os.Root, a, b string) (bool, error) {
	return false, root.Rename(a, b)
}

func renameNoReplace(_ *os.File, root *os.Root, a, b string) error {
	return linkNoReplace(root, a, b)
}

func copyOwnership(_, _ *os.File, _ fs.FileInfo) error { return nil }
