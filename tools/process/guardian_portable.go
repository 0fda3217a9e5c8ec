//go:build unix && !linux

package process

import (
	"os"
	"syscall"
	"time"
)

// These systems have no child subreaper that Go can use, so a guardian here ends
// the shell's process group; a child that left it survives.

const clearWithin = 2 * time.Second

func harden() {}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (g *guard) wait() {
	for {
		pid, err := syscall.Wait4(g.shell, &g.status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid == g.shell {
			return
		}
	}
}

// groupLives says whether anything is left in the shell's group.
func (g *guard) groupLives() bool { return syscall.Kill(-g.shell, 0) == nil }

// clear waits until the group that ended signalled is empty.
func (g *guard) clear() (code int, left []string) {
	deadline := time.Now().Add(clearWithin)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		// ESRCH: it is empty. EPERM: on macOS only zombies are in it.
		if syscall.Kill(-g.shell, syscall.SIGKILL) != nil {
			return g.code(), nil
		}
		if time.Now().After(deadline) {
			return g.code(), []string{"members of its process group"}
		}
		time.Sleep(pause)
	}
}

// killSession ends what is left of a command whose guardian was killed.
func killSession(session int) { _ = syscall.Kill(-session, syscall.SIGKILL) }

// tell sends a signal to the command's process group.
func (g *guard) tell(s syscall.Signal) { _ = syscall.Kill(-g.shell, s) }

func isDead(int) bool { return false }

func awaitDeath(int) {} // there is no bubblewrap

func self() (string, error) { return os.Executable() }
