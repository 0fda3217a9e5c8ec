package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize holds a whole chunk of text: the peer is woken once for it, not once
// for each 64 KiB.
const pipeSize = 512 << 10

// widen has f's pipe hold more, if it is one and its user may.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) // else it holds what it held
	})
}
