package tools

import (
	"context"
	"time"

	"pillion/internal/fault"
	"pillion/tools/process"
)

var _ = define(NewSession(Spec{
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

func planKillProcess(_ context.Context, _ Input, args killProcessArgs) (*Action, error) {
	if args.Signal != "" {
		if _, err := process.ParseSignal(args.Signal); err != nil {
			return nil, err
		}
	}
	return onProcess("End process "+fault.Quote(args.ProcessID), args.ProcessID, func(ctx context.Context, p *process.Named) (*Answer, error) {
		if err := EndProcess(ctx, p, args.Signal); err != nil {
			return nil, err
		}
		state := stateOf(p)
		text := state.text(p)
		return &Answer{Result: killProcessResult{state.Running, state.ExitCode}, Text: text, Summary: text}, nil
	}), nil
}

// EndProcess ends a process, or sends it the one signal that is named, and waits: for
// its end, which is sure to come, or for what a signal does in a moment.
func EndProcess(ctx context.Context, p *process.Named, signal string) error {
	var patience <-chan time.Time
	switch s, err := process.ParseSignal(signal); {
	case signal == "":
		p.End()
	case err != nil:
		return err
	default:
		if err := p.Signal(s); err != nil {
			return err
		}
		if s != process.Kill {
			timer := time.NewTimer(process.Grace)
			defer timer.Stop()
			patience = timer.C
		}
	}
	select {
	case <-p.Done():
	case <-patience:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
