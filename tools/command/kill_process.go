package command

import (
	"context"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewSession(tools.Spec{
	Name:        "kill_process",
	Title:       "End process",
	Description: "Ends a process of yours and all it started: TERM, KILL after 2 s. With signal, sends only that.",
	Destructive: true,
	Results:     []any{killProcessResult{}},
}, planKillProcess))

type killProcessArgs struct {
	ProcessID string `json:"process_id"`
	Signal    string `json:"signal,omitempty" jsonschema:"INT, TERM, HUP or KILL"`
}

type killProcessResult struct {
	Running  bool `json:"running"`
	ExitCode *int `json:"exit_code,omitempty"`
}

func planKillProcess(_ context.Context, _ tools.Input, args killProcessArgs) (*tools.Action, error) {
	if args.Signal != "" {
		if _, err := process.ParseSignal(args.Signal); err != nil {
			return nil, err
		}
	}
	return onProcess("End process "+fault.Quote(args.ProcessID), args.ProcessID, func(ctx context.Context, p *process.Named) (*tools.Answer, error) {
		if err := p.EndWith(ctx, args.Signal); err != nil {
			return nil, err
		}
		state := stateOf(p)
		text := state.text(p)
		return &tools.Answer{Result: killProcessResult{state.Running, state.ExitCode}, Text: text, Summary: text}, nil
	}), nil
}
