package command

import (
	"context"
	"errors"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewExec(tools.Spec{
	Name:        "write_process",
	Title:       "Write to process",
	Description: "Writes to the standard input of a process from run_persistent. End lines with a newline.",
	Results:     []any{writeProcessResult{}},
}, planWriteProcess))

type writeProcessArgs struct {
	ProcessID string `json:"process_id"`
	Input     string `json:"input"`
}

type writeProcessResult struct {
	BytesWritten int `json:"bytes_written"`
}

func planWriteProcess(_ context.Context, in tools.Input, args writeProcessArgs) (*tools.Action, error) {
	if args.Input == "" {
		return nil, fault.Invalid("input is empty; give the text to write")
	}
	limit := in.Limits.CallTime
	if in.Timeout > 0 {
		limit = in.Timeout
	}
	title := fmt.Sprintf("Write to %s: %s", fault.Quote(args.ProcessID), fault.Quote(fault.Clip(args.Input, 200)))
	action := onProcess(title, args.ProcessID, func(ctx context.Context, p *process.Named) (*tools.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		n, err := p.Write(ctx, args.Input)
		a := &tools.Answer{Result: writeProcessResult{n}}
		a.Summary = fmt.Sprintf("wrote %s to %s: %s", tools.Count(n, "byte"), fault.Quote(p.ID), fault.Quote(fault.Clip(args.Input[:n], 200)))
		a.Text = fmt.Sprintf("wrote %s", tools.Count(n, "byte"))
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			a.Err = fault.New(fault.Timeout, "%s does not read its input: it read %d of %d bytes in %s", fault.Quote(p.ID), n, len(args.Input), limit).
				WithHint("check it with read_process")
		case err != nil:
			a.Err = fault.From(err)
		}
		return a, nil
	})
	action.Preview.Markdown = fmt.Sprintf("The agent wants to write to %s:\n\n    %s\n", fault.Quote(args.ProcessID), fault.Quote(args.Input))
	// Nobody said yes to what full_access started: outside that mode each text is asked about.
	action.Covered = !in.Unasked(args.ProcessID)
	return action, nil
}
