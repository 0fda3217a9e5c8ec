//go:build !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"pillion/internal/fault"
)

// Nothing holds commands on these systems.

type box struct{}

type scratch struct{}

func (*scratch) close() {}

const boxFD = 3

func boxFilterFile() (*os.File, error) { return os.Open(os.DevNull) }

// gate is of boxes, too.
type gate struct{ theirs *os.File }

func (h hold) newGate() (*gate, error) { return nil, nil }

func (g *gate) open() {}

func (g *gate) close() {}

func (g *gate) refused() []string { return nil }

// gateVariables lead programs to a gate.
var gateVariables map[string]string

// Gate is the body of the hidden subcommand `gate`.
func Gate([]string) int { return 2 }

// TryEscapes has nothing to try.
func (r *Runner) TryEscapes(context.Context) ([]Escape, error) {
	return nil, errors.New("nothing holds commands here")
}

// TryToEscape is the body of the hidden subcommand `escape`.
func TryToEscape([]string) int {
	fmt.Fprintln(os.Stderr, "pillion escape is internal: pillion doctor starts it itself")
	return 2
}

type hold struct{ Level Level }

func (h hold) layered() bool { return false }

func layerAttributes() *syscall.SysProcAttr { return nil }

// NewLayers makes none here.
func (r *Runner) NewLayers([]string) ([]Layer, func(), bool) { return nil, nil, false }

func (h hold) apply() error { return nil }

func (h hold) without(args []string) []string { return args }

func (h hold) opened(args []string, _ int) ([]string, []*os.File, error) { return args, nil, nil }

func (h hold) look() map[string]inode { return nil }

func (h hold) tidy(map[string]inode) {}

func (h hold) settle() []string { return nil }

func (h hold) discard() {}

type inode struct{}

func (r *Runner) try() found {
	const why = "it is only for Linux"
	return found{Walls: Walls{Level: None, Bubblewrap: Wall{Why: why}, Landlock: Wall{Why: why}}}
}

func (r *Runner) confine(spec Spec, _ box, _ []string) (hold, boxOrder, error) {
	if spec.Confine.holds() {
		return hold{}, boxOrder{}, fault.New(fault.PolicyDenied, "there is no sandbox on this system; switch it off in the settings")
	}
	return hold{}, boxOrder{}, nil
}

// run starts commands: here nothing can hold them without another program.
func (s *heldStarter) run(string) {
	for o, more := s.next(); more; o, more = s.next() {
		o.started <- o.cmd.Start()
	}
}
