//go:build !linux && !darwin

package workspace

import "io/fs"

func factsOf(fs.FileInfo) systemFacts { return systemFacts{} }
