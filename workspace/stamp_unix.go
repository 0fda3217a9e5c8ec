//go:build unix

package workspace

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp names the version of an open file without reading it: by which file it is,
// its length and its times. It also says when the file was last written or renamed.
// Who writes a file twice within the clock's step may leave the name as it is.
func Stamp(f *os.File) (name string, touched time.Time) {
	var info unix.Stat_t
	raw, err := f.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &info) })
	}
	if err != nil {
		return "", time.Now()
	}
	written, changed := time.Unix(info.Mtim.Unix()), time.Unix(info.Ctim.Unix())
	if changed.After(written) {
		touched = changed
	} else {
		touched = written
	}
	return fmt.Sprint(info.Dev, info.Ino, info.Size, written.UnixNano(), changed.UnixNano()), touched
}
