package tools

import (
	"context"
	"time"

	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
)

// Runner is a way to run a sub-agent, as the user's settings have it.
type Runner struct {
	// Args are the program and its arguments. It speaks ACP, or else is a command that
	// gets the objective in place of ObjectiveHere.
	Args     []string
	ACP      bool
	Env      map[string]string // added to the clean environment
	Inherit  []string          // variables of ours that it gets besides
	Writable []string          // folders that it may write in the sandbox
	// WritesItself: it changes files by itself even where Pillion would do it, after it has
	// asked.
	WritesItself bool
	Mode         policy.Mode   // the loosest that it works in; empty: that of whoever starts it
	Timeout      time.Duration // of its own work
}

// ObjectiveHere stands in a runner's command for the objective.
const ObjectiveHere = "{objective}"

// Agents runs sub-agents that speak the Agent Client Protocol.
type Agents interface {
	// Run gives a sub-agent its objective, and returns what it said last when it is done
	// and nothing of it is left. With an error it is what it said until then.
	Run(ctx context.Context, s SubAgent) (summary string, err error)
}

// SubAgent is one that is to be run.
type SubAgent struct {
	Name         string
	Objective    string
	Parent       *session.Session // of the agent that starts it
	Mode         policy.Mode      // see Runner
	Process      process.Spec
	WritesItself bool          // see Runner
	Timeout      time.Duration // of its own work: waiting for the user does not count
	// Output hears what it says and does. It must not be called after Run has returned.
	Output func(stream, text string)
}
