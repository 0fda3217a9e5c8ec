package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clearWithin bounds how long a guardian tries to end what the command left.
// Only what the kernel protects takes that long: another user's process, or one
// that waits for a dead disk.
const clearWithin = 2 * time.Second

// harden makes this process the parent of every orphan below it, and closes its
// descriptors and memory to other processes of the same user.
func harden() {
	_ = os.WriteFile("/proc/self/comm", []byte("pillion-guard"), 0)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// siginfo is the kernel's siginfo_t for the death of a child. The one in
// x/sys/unix does not name the process.
type siginfo struct {
	_   [3]int32
	_   [unsafe.Sizeof(uintptr(0)) - 4]byte
	pid int32
	_   [128 - 12 - (unsafe.Sizeof(uintptr(0)) - 4) - 4]byte
}

// wait returns when the shell has ended, and reaps orphans until then. Deaths
// are looked at before they are reaped: as long as the shell is a zombie its
// number, and its group's, cannot belong to anything else.
func (g *guard) wait() {
	for {
		var info siginfo
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err != nil || int(info.pid) == g.shell:
			g.ended()
			return
		default:
			_, _ = unix.Wait4(int(info.pid), nil, unix.WNOHANG, nil)
		}
	}
}

// clear ends every descendant. As a subreaper this process has a child as long
// as it has a descendant, so that "no child" is the proof that all are gone.
func (g *guard) clear() (code int, left []string) {
	deadline := time.Now().Add(clearWithin)
	pause := 50 * time.Microsecond
	for round := 0; ; round++ {
		if g.reap() {
			return g.code(), nil
		}
		// The shell's group has been signalled, and most often that is all there
		// is: it gets a moment before the whole system is searched.
		if round > 1 {
			left = killDescendants()
		}
		if time.Now().After(deadline) {
			return g.code(), left
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Millisecond)
	}
}

// reap takes in every child that is dead and reports whether that was the last.
func (g *guard) reap() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == g.shell:
			g.status = status
		}
	}
}

// killDescendants signals every living process below this one and names them.
func killDescendants() (living []string) {
	children := map[int][]entry{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	for queue := children[os.Getpid()]; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		queue = append(queue, children[p.pid]...)
		if !p.dead {
			p.kill()
			living = append(living, fmt.Sprintf("%s (%d)", p.name, p.pid))
		}
	}
	return living
}
