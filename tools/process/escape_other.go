//go:build !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Escape is a way out of the sandbox that was tried.
type Escape struct {
	Way    string
	Closed bool
	Due    bool
}

// TryEscapes has nothing to try: nothing holds commands on these systems.
func (r *Runner) TryEscapes(context.Context) ([]Escape, error) {
	return nil, errors.New("nothing holds commands here")
}

// TryToEscape is the body of the hidden subcommand `escape`.
func TryToEscape([]string) int {
	fmt.Fprintln(os.Stderr, "pillion escape is internal: pillion doctor starts it itself")
	return 2
}
