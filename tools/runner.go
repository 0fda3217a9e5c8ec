package tools

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace"
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

// runner finds one by its name.
func (in Input) runner(name string) (Runner, error) {
	if len(in.Runners) == 0 {
		return Runner{}, fault.New(fault.ExecutionFailed, "no sub-agents are configured").
			WithHint("do the work yourself, or ask the user to set task.runners (docs/agents.md, \"Sub-agents\")")
	}
	r, known := in.Runners[name]
	if !known {
		names := quoteAll(slices.Sorted(maps.Keys(in.Runners)))
		return r, invalid("no sub-agent is called %s; there is %s", fault.Quote(fault.Clip(name, 100)), strings.Join(names[:min(len(names), 20)], ", "))
	}
	return r, nil
}

// process is how the runner is started in a folder, with an objective.
func (r Runner) process(in Input, name, objective string, dir workspace.Path) (process.Spec, error) {
	file, err := in.LookPath(r.Args[0])
	if err != nil {
		return process.Spec{}, fault.New(fault.ExecutionFailed, "the program %s of the sub-agent %s was not found", fault.Quote(r.Args[0]), fault.Quote(name)).
			WithHint("ask the user to install it, or to name the file in task.runners")
	}
	spec := process.Spec{Args: []string{file}, Dir: dir.Abs(), Env: r.Env, Inherit: r.Inherit, OutputLimit: in.Limits.OutputBytes}
	told := r.ACP
	for _, arg := range r.Args[1:] {
		if strings.HasPrefix(arg, ObjectiveHere) && strings.HasPrefix(objective, "-") && !told {
			return spec, invalid("objective begins with -, which a program would take for an option; begin it with a word")
		}
		if !r.ACP && strings.Contains(arg, ObjectiveHere) {
			arg, told = strings.ReplaceAll(arg, ObjectiveHere, objective), true
		}
		spec.Args = append(spec.Args, arg)
	}
	if !told {
		spec.Stdin = objective
	}
	if err := spec.CheckSize(); err != nil {
		return spec, err
	}
	spec.Confine, err = r.confine(in, name)
	return spec, err
}

// confine holds the runner as a command is held. An agent that speaks ACP has Pillion to
// change files for it, and cannot write to the workspace by itself.
func (r Runner) confine(in Input, name string) (process.Confine, error) {
	s := in.Sandbox
	if s.Mode == "" || s.Mode == SandboxOff {
		return process.Confine{Level: process.None}, nil
	}
	held, err := s.hold(in, s.Network == NetworkOff && !policy.CoversSubject(s.NetworkFor, in.Tool, name))
	if err != nil || held.Level == process.None {
		return held, err
	}
	if r.ACP && !r.WritesItself {
		for _, root := range in.Snapshot.Workspace().Roots() {
			closed := process.Resolve(root.Abs())
			held.Writable = slices.DeleteFunc(held.Writable, func(dir string) bool { return dir == closed })
			held.ReadOnly = append(held.ReadOnly, closed)
		}
	}
	for _, dir := range r.Writable {
		held.Writable = append(held.Writable, process.Resolve(dir))
	}
	held.ReadOnly = shallowest(held.ReadOnly, mostProtected)
	return held, nil
}
