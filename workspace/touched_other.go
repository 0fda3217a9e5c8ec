//go:build !unix

package workspace

import (
	"os"
	"time"
)

// Touched is when the file of this absolute name was last written, as far as the
// system tells. It decides alone where a file is too large to be read, or not ours
// to. False: it cannot be told.
func Touched(abs string) (time.Time, bool) {
	info, err := os.Lstat(abs)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}
