package process

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// mostHeld is how much memory a command gets that reads: a few objects of a repository can stand for more than there is.
const mostHeld = 2 << 30

// StartHeld starts a command that reads: Landlock lets it write below the named folders alone, takes the network away, and what
// is left of sockets. Where there is no Landlock it has only a bound on its memory.
func StartHeld(cmd *exec.Cmd, writable ...string) error {
	err := startHeld(cmd, writable)
	if err == nil {
		_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: mostHeld, Max: mostHeld}, nil) // it may have ended
	}
	return err
}

func startHeld(cmd *exec.Cmd, writable []string) error {
	if landlockABI() < leastABI {
		return cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is held as well, and ends with this function
		h := hold{Level: Landlock, Offline: true}
		for _, dir := range writable {
			h.Writable = append(h.Writable, []byte(Resolve(dir)))
		}
		if err := h.landlock(); err != nil {
			started <- err
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}
