//go:build !linux && !darwin

package workspace

import (
	"io/fs"
	"os"
)

// isMountRoot cannot be told.
func isMountRoot(*os.File) bool { return false }

func factsOf(fs.FileInfo) systemFacts { return systemFacts{} }
