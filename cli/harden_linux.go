package cli

import (
	"log"

	"golang.org/x/sys/unix"
)

// harden keeps other processes of the same user, a command that an agent runs
// among them, from opening this one's pipes and memory through /proc: through
// them a command could answer its own approval.
func harden() {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		log.Printf("cannot protect this process from others of the same user: %v", err)
	}
}
