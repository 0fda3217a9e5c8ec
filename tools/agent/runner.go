package agent

import (
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
)

// findRunner finds one by its name.
func findRunner(in tools.Input, name string) (tools.Runner, error) {
	if len(in.Runners) == 0 {
		return tools.Runner{}, fault.New(fault.ExecutionFailed, "no sub-agents are configured").
			WithHint("do the work yourself, or ask the user to set task.runners (docs/agents.md, \"Sub-agents\")")
	}
	r, known := in.Runners[name]
	if !known {
		names := tools.QuoteAll(slices.Sorted(maps.Keys(in.Runners)))
		return r, fault.Invalid("no sub-agent is called %s; there is %s", fault.Quote(fault.Clip(name, 100)), strings.Join(names[:min(len(names), 20)], ", "))
	}
	return r, nil
}

// runnerSpec is how the runner is started in a folder, with an objective.
func runnerSpec(r tools.Runner, in tools.Input, name, objective string, dir workspace.Path) (process.Spec, error) {
	file, err := in.LookPath(r.Args[0])
	if err != nil {
		return process.Spec{}, fault.New(fault.ExecutionFailed, "the program %s of the sub-agent %s was not found", fault.Quote(r.Args[0]), fault.Quote(name)).
			WithHint("ask the user to install it, or to name the file in task.runners")
	}
	spec := process.Spec{Args: []string{file}, Dir: dir.Abs(), Env: r.Env, Inherit: r.Inherit, OutputLimit: in.Limits.OutputBytes}
	told := r.ACP
	for _, arg := range r.Args[1:] {
		if strings.HasPrefix(arg, tools.ObjectiveHere) && strings.HasPrefix(objective, "-") && !told {
			return spec, fault.Invalid("objective begins with -, which a program would take for an option; begin it with a word")
		}
		if !r.ACP && strings.Contains(arg, tools.ObjectiveHere) {
			arg, told = strings.ReplaceAll(arg, tools.ObjectiveHere, objective), true
		}
		spec.Args = append(spec.Args, arg)
	}
	if !told {
		spec.Stdin = objective
	}
	if err := spec.CheckSize(); err != nil {
		return spec, err
	}
	spec.Confine, err = confineRunner(r, in, name)
	return spec, err
}

// confineRunner holds the runner as a command is held. An agent that speaks ACP has Pillion to
// change files for it, and cannot write to the workspace by itself.
func confineRunner(r tools.Runner, in tools.Input, name string) (process.Confine, error) {
	s := in.Sandbox
	if s.Mode == "" || s.Mode == tools.SandboxOff {
		return process.Confine{Level: process.None}, nil
	}
	held, err := s.Hold(in, s.Network == tools.NetworkOff && !policy.CoversSubject(s.NetworkFor, in.Tool, name))
	if err != nil || held.Level == process.None {
		return held, err
	}
	if r.ACP && !r.WritesItself {
		for _, root := range in.Snapshot.Workspace().Roots() {
			closed := root.Abs()
			held.Writable = slices.DeleteFunc(held.Writable, func(dir string) bool { return dir == closed })
			held.ReadOnly = append(held.ReadOnly, closed)
		}
	}
	for _, dir := range r.Writable {
		held.Writable = append(held.Writable, process.Resolve(dir))
	}
	held.ReadOnly = tools.Shallowest(held.ReadOnly)
	return held, nil
}
