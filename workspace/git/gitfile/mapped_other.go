//go:build !unix

package gitfile

import "os"

// MapOpen is for other systems: here a file that is mapped cannot be replaced.
func MapOpen(*os.File, int64) []byte { return nil }

func Unmap([]byte) {}
