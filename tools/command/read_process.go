package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewWatch(tools.Spec{
	Name:        "read_process",
	Title:       "Read process",
	Description: "Returns what a process printed (output and errors) and whether it still runs.",
	Results:     []any{readProcessResult{}},
}, planReadProcess))

type readProcessArgs struct {
	ProcessID   string  `json:"process_id"`
	Since       int64   `json:"since,omitempty" jsonschema:"next of your last read" minimum:"0"`
	WaitSeconds float64 `json:"wait_seconds,omitempty" jsonschema:"for news or its end" minimum:"0" maximum:"600"`
}

type readProcessResult struct {
	Output    string `json:"output"`
	Next      int64  `json:"next"`
	Running   bool   `json:"running"`
	ExitCode  *int   `json:"exit_code,omitempty"`
	Truncated bool   `json:"truncated"`
}

func planReadProcess(_ context.Context, in tools.Input, args readProcessArgs) (*tools.Action, error) {
	wait, err := seconds("wait_seconds", args.WaitSeconds, 0, in.Limits.CommandMax)
	if err != nil {
		return nil, err
	}
	return onProcess("Read process "+fault.Quote(args.ProcessID), args.ProcessID, func(ctx context.Context, p *process.Named) (*tools.Answer, error) {
		if err := awaitNews(ctx, p, args.Since, min(wait, cmp.Or(in.Timeout, in.Limits.CallTime))); err != nil {
			return nil, err
		}
		return processAnswer(p, args.Since, in.Page), nil
	}), nil
}

// awaitNews waits until a process has printed more than so many bytes, or has ended.
func awaitNews(ctx context.Context, p *process.Named, since int64, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for p.Running() {
		piece, changed := p.Next(since, 1)
		if piece.Next > since {
			return nil
		}
		select {
		case <-changed:
		case <-p.Done():
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func processAnswer(p *process.Named, since int64, page int) *tools.Answer {
	state := stateOf(p) // before the output, which is all there is once it has ended
	out := readProcessResult{Running: state.Running, ExitCode: state.ExitCode}
	var more string
	out.Output, out.Next, out.Truncated, more = printed(p, since, page)
	text := state.text(p)
	return &tools.Answer{Result: out, Text: text + outputText(out.Output, out.Next), Notes: gaps(more, out.Truncated), Paged: true, Summary: text}
}

// printed is what a process has printed from an offset on, a page of it where that is more;
// more then says how to get the rest.
func printed(p *process.Named, since int64, page int) (output string, next int64, gap bool, more string) {
	output, next, gap = p.Since(since)
	if page <= 0 || tools.FitsPage(output, page) {
		return output, next, gap, ""
	}
	page = len(tools.FirstLines(output, page, tools.PageLines))
	piece, _ := p.Next(since, page)
	more = fmt.Sprintf("(%s more bytes; the last page begins at since %d)", tools.Grouped(int(next-piece.Next)), max(next-int64(page), piece.Next))
	return piece.Text, piece.Next, piece.Start > since, more
}

// gaps are what the model could not see in a process's output.
func gaps(more string, gap bool) []string {
	var out []string
	if gap {
		out = append(out, "(some older output was dropped)")
	}
	if more != "" {
		out = append(out, more)
	}
	return out
}
