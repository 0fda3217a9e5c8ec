package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
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
			return
		default:
			_, _ = unix.Wait4(int(info.pid), nil, unix.WNOHANG, nil)
		}
	}
}

// groupLives says whether anything in the shell's group still runs. The shell is
// dead and not reaped, so the group's number is still its own.
func (g *guard) groupLives() bool {
	return slices.ContainsFunc(processes(), func(p entry) bool { return p.group == g.shell && !p.dead })
}

// isDead says whether a child has ended that was not reaped.
func isDead(pid int) bool {
	var info siginfo
	err := unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != nil || info.pid != 0
}

// awaitDeath returns when a child has ended, and leaves it to be reaped.
func awaitDeath(pid int) {
	var info siginfo
	for unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// tell sends a signal to the command's process group.
//
// In a box that is the group of the first process there, bubblewrap's only child,
// which itself hears no signal but KILL; and the box falls, with all in it, as soon
// as the command's own process ends, which a shell does at once. So the others in
// the group are told first, and that process, held still meanwhile, when they have
// gone or their time is up.
func (g *guard) tell(s syscall.Signal) {
	if !g.boxed {
		_ = syscall.Kill(-g.shell, s)
		return
	}
	command, others := g.inBox()
	if len(others) == 0 {
		command.signal(s)
		return
	}
	command.signal(syscall.SIGSTOP)
	for _, p := range others {
		p.signal(s)
	}
	go func() {
		g.await(func() bool { return !slices.ContainsFunc(others, entry.lives) })
		command.signal(s)
		command.signal(syscall.SIGCONT)
	}()
}

// inBox are the command's own process, and the others of its group.
func (g *guard) inBox() (command entry, others []entry) {
	all := processes()
	at := slices.IndexFunc(all, func(p entry) bool { return p.parent == g.shell && p.group == p.pid })
	if at < 0 {
		return command, nil
	}
	first := all[at].pid
	for _, p := range all {
		switch {
		case p.group != first || p.pid == first || p.dead:
		case p.parent == first && (command.pid == 0 || p.pid < command.pid):
			if command.pid > 0 {
				others = append(others, command)
			}
			command = p
		default:
			others = append(others, p)
		}
	}
	return command, others
}

// clear ends every descendant. As a subreaper this process has a child as long
// as it has a descendant, so that "no child" is the proof that all are gone.
//
// It looks at its own children first and often: that takes microseconds, and a
// process that keeps forking and leaving can only be hit by being fast. The
// search of the whole system finds the rest, whose parents still live.
func (g *guard) clear() (code int, left []string) {
	deadline := time.Now().Add(clearWithin)
	signalled := map[int]bool{}
	for round, quiet := 1, 0; ; round++ {
		if g.reap(signalled) {
			return g.code(), nil
		}
		fresh := signalChildren(signalled)
		if fresh && round%64 != 0 {
			quiet = 0
			continue
		}
		// The dying get a moment before the system is searched.
		if quiet++; quiet > 2 || fresh {
			left = killDescendants()
		}
		if time.Now().After(deadline) {
			return g.code(), left
		}
		time.Sleep(min(25*time.Microsecond<<min(quiet, 10), 5*time.Millisecond))
	}
}

// reap takes in every child that is dead and reports whether that was the last.
func (g *guard) reap(signalled map[int]bool) bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == g.shell:
			g.status = status
		}
		delete(signalled, pid) // from here on the number may be another's
	}
}

// signalChildren ends the direct children that were not signalled before, and
// the process groups they are in, and reports whether there were any. No number
// can have passed to another process: a child keeps it until it is reaped, and
// its group's too. A group cannot hold strangers, as the shell began a session.
func signalChildren(signalled map[int]bool) (fresh bool) {
	self := os.Getpid()
	// Orphans come to the first thread. Without this file, which a kernel may
	// lack, killDescendants does it all.
	list, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", self))
	for _, field := range bytes.Fields(list) {
		pid, err := strconv.Atoi(string(field))
		if err != nil || signalled[pid] {
			continue
		}
		signalled[pid], fresh = true, true
		_ = syscall.Kill(pid, syscall.SIGKILL)
		if group, err := syscall.Getpgid(pid); err == nil && group > 1 && group != self {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	}
	return fresh
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

// self is the program that runs, also when its file was replaced by an update.
func self() (string, error) { return "/proc/self/exe", nil }
