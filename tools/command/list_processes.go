package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

var _ = tools.Define(tools.NewWatch(tools.Spec{
	Name:        "list_processes",
	Title:       "List processes",
	Description: "Lists the processes you started with run_persistent or background_after.",
	Results:     []any{listProcessesResult{}},
}, planListProcesses))

type listProcessesArgs struct{}

type listProcessesResult struct {
	Processes []listedProcess `json:"processes"`
}

type listedProcess struct {
	ProcessID string    `json:"process_id"`
	PID       int       `json:"pid"`
	Command   string    `json:"command"`
	Running   bool      `json:"running"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	Started   time.Time `json:"started"`
}

func planListProcesses(context.Context, tools.Input, listProcessesArgs) (*tools.Action, error) {
	return &tools.Action{
		Title:   "List processes",
		Preview: approval.Preview{Kind: "text", Markdown: "The agent wants to list its processes."},
		Run: func(_ context.Context, effects tools.Effects) (*tools.Answer, error) {
			out := listProcessesResult{Processes: []listedProcess{}}
			var text strings.Builder
			for _, p := range effects.Processes.List() {
				state := stateOf(p)
				out.Processes = append(out.Processes, listedProcess{
					ProcessID: p.ID, PID: p.PID(), Command: p.Command, Running: state.Running, ExitCode: state.ExitCode,
					Started: p.Started.UTC().Truncate(time.Second),
				})
				fmt.Fprintf(&text, "%s: %s\n", state.text(p), fault.Escape(fault.Clip(tools.FirstLine(p.Command), 200)))
			}
			if len(out.Processes) == 0 {
				text.WriteString("this session has no processes\n")
			}
			return &tools.Answer{Result: out, Text: text.String(), Summary: fmt.Sprintf("%d listed", len(out.Processes))}, nil
		},
	}, nil
}
