package process

import (
	"strings"
	"time"

	"pillion/internal/fault"
)

// Grace is how long a process that was told to terminate has for it.
const Grace = 2 * time.Second

// finishWithin is how long a process that is ended gently has to come to its end by itself.
const finishWithin = 500 * time.Millisecond

// Signal is what can be sent to a process, by its name without SIG.
type Signal string

// The signals.
const (
	Interrupt Signal = "INT"
	Terminate Signal = "TERM"
	Hangup    Signal = "HUP"
	Kill      Signal = "KILL"
)

// ParseSignal reads the name of a signal, with or without SIG, in any letter case.
func ParseSignal(name string) (Signal, error) {
	switch s := Signal(strings.TrimPrefix(strings.ToUpper(name), "SIG")); s {
	case Interrupt, Terminate, Hangup, Kill:
		return s, nil
	}
	return "", fault.New(fault.InvalidArguments, "unknown signal %s; use INT, TERM, HUP or KILL", fault.Quote(name))
}
