//go:build !unix

package git

import "os"

// mapFile is for other systems: here a file that is mapped cannot be replaced.
func mapFile(*os.File, int64) []byte { return nil }

func unmapFile([]byte) {}
