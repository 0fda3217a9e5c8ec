// Package pipe has pipes hold more than a system gives them: whoever reads one is
// woken less often, and whoever writes waits less. Entry point: Widen. Making pipes
// is not its business.
package pipe

import (
	"os"

	"golang.org/x/sys/unix"
)

// Widen has f's pipe hold so many bytes, if it is one and its user may. Either end
// will do.
func Widen(f *os.File, size int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size) // else it holds what it held
	})
}
