package search

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// inBackground has the rest of this goroutine done when nobody else wants a processor.
func inBackground() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	const least = 19
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), least) // without it, it is done all the same
}
