package process

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// mostHeld is how much memory a command gets that reads: a few objects of a repository can stand for more than there is.
const mostHeld = 2 << 30

// run starts commands from one thread, which is held and lives as long as there may be others: Landlock lets them write below a
// folder alone, if there is one, and has neither a network nor other sockets; and they end with this program, however that ends.
// Where there is no Landlock they have only the bound on memory and that.
func (s *heldStarter) run(writable string) {
	runtime.LockOSThread() // and not unlocked: the thread is held as well, and ends with this function
	if unix.Gettid() == unix.Getpid() {
		// The first thread stands for the whole program, as for signals, and is not to be held. While it is locked here, another
		// gets the next goroutine.
		defer runtime.UnlockOSThread()
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.run(writable)
		}()
		<-done
		return
	}
	var err error
	if landlockABI() >= leastABI {
		h := hold{Level: Landlock, Offline: true, NoDevices: true}
		if writable != "" {
			h.Writable = [][]byte{[]byte(Resolve(writable))}
		}
		err = h.landlock()
	}
	for o, more := s.next(); more; o, more = s.next() {
		if err != nil {
			o.started <- err
			continue
		}
		if o.cmd.SysProcAttr == nil {
			o.cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		o.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
		startErr := o.cmd.Start()
		if startErr == nil {
			_ = unix.Prlimit(o.cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: mostHeld, Max: mostHeld}, nil) // it may have ended
		}
		o.started <- startErr
	}
}
