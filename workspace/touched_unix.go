//go:build unix

package workspace

import (
	"time"

	"golang.org/x/sys/unix"
)

// Touched is when the file of this absolute name was last written, replaced or
// renamed, as far as the system tells: the later of its two times, for a file
// that is moved here keeps the time at which it was written. It costs one look,
// and decides alone where a file is too large to be read, or not ours to. False: it
// cannot be told.
func Touched(abs string) (time.Time, bool) {
	var info unix.Stat_t
	if err := unix.Lstat(abs, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
		return time.Time{}, false
	}
	written, changed := time.Unix(info.Mtim.Unix()), time.Unix(info.Ctim.Unix())
	if changed.After(written) {
		return changed, true
	}
	return written, true
}
