package workspace

import (
	"fmt"
	"os"
	"time"
)

// Touched is when the file of this absolute name was last written, replaced or
// renamed, as far as the system tells: the later of its two times, for a file
// that is moved here keeps the time at which it was written. It costs one look,
// and decides alone where a file is too large to be read, or not ours to. False: it
// cannot be told.
func Touched(abs string) (time.Time, bool) {
	info, err := os.Lstat(abs)
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return nodeOf(".", info).touched(), true
}

// Stamp names the version of an open file without reading it: by which file it is, or
// where the system does not tell by its name, by its length and its times. It also says
// when the file was last written or renamed. Who writes a file twice within the clock's
// step may leave the name as it is.
func Stamp(f *os.File) (name string, touched time.Time) {
	info, err := f.Stat()
	if err != nil {
		return "", time.Now()
	}
	n := nodeOf(".", info)
	if n.system == (systemFacts{}) {
		name = f.Name()
	}
	return name + fmt.Sprint(n.system.device, n.system.inode, info.Size(), n.written.UnixNano(), n.system.changed.UnixNano()), n.touched()
}
