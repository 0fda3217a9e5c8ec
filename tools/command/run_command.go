package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
)

var _ = tools.Define(tools.NewExec(tools.Spec{
	Name:        "run_command",
	Title:       "Run command",
	Description: "Runs a /bin/sh command line and returns exit code, stdout and stderr. The user approves, edits or rejects it unless a rule allows it or it only reads. No terminal, clean environment, no network but network. What it leaves in the background ends with it: use run_persistent for servers. Prefer the other tools for reading, searching and editing.",
	Results:     []any{runCommandResult{}, unkeptResult{}},
}, planRunCommand))

type runCommandArgs struct {
	Command        string            `json:"command"`
	Cwd            string            `json:"cwd,omitempty"`
	TimeoutSeconds float64           `json:"timeout_seconds,omitempty" minimum:"0" maximum:"600" default:"120"`
	Env            map[string]string `json:"env,omitempty" jsonschema:"added to the clean environment"`
	Stdin          string            `json:"stdin,omitempty"`
	Network        []string          `json:"network,omitempty" jsonschema:"hosts it needs (example.org:22), or *"`
	Why            string            `json:"why,omitempty" jsonschema:"one line for the user"`
	// BackgroundAfter is named as the contract has it, without its unit.
	BackgroundAfter float64 `json:"background_after,omitempty" jsonschema:"seconds; then it goes on as a process" minimum:"0"`
}

type runCommandResult struct {
	Command    string   `json:"command"`
	ExitCode   *int     `json:"exit_code"` // null: it still runs
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	Truncated  bool     `json:"truncated"`
	DurationMS int64    `json:"duration_ms"`
	Sandbox    string   `json:"sandbox"`
	Hint       string   `json:"hint,omitempty"`
	ProcessID  string   `json:"process_id,omitempty"` // of one that still runs
	Next       *int64   `json:"next,omitempty"`       // and where read_process reads on
	Unsaved    []string `json:"unsaved,omitempty"`
	Blocked    []string `json:"blocked,omitempty"` // hosts that it was not let to
}

func planRunCommand(_ context.Context, in tools.Input, args runCommandArgs) (*tools.Action, error) {
	timeout, err := args.timeout(in)
	if err != nil {
		return nil, err
	}
	background, err := seconds("background_after", args.BackgroundAfter, 0, in.Limits.CommandMax)
	if err != nil {
		return nil, err
	}
	c, err := planCommand(in, commandLine{Line: args.Command, Cwd: args.Cwd, Env: args.Env, Stdin: args.Stdin, Network: args.Network})
	if err != nil {
		return nil, err
	}
	action := c.action(func(ctx context.Context, effects tools.Effects, c command, spec process.Spec) (*tools.Answer, error) {
		spec.Timeout = timeout
		if background > 0 {
			got, next, kept, err := effects.Processes.RunFor(ctx, background, process.About{Cwd: c.dir.String()}, spec, effects.Stream)
			if kept != nil {
				return backgroundAnswer(c, in.Page, kept, got, next), nil
			}
			return commandAnswer(c, in.Page, timeout, got, err)
		}
		got, err := effects.Processes.Run(ctx, spec, effects.Stream)
		return commandAnswer(c, in.Page, timeout, got, err)
	})
	action.Boxed, action.Layered = true, background == 0
	if background > 0 {
		action.Description = fmt.Sprintf("Runs this command line with /bin/sh. If it takes longer than %s, it goes on as a process, until it ends by itself, "+
			"you or the agent end it, or the agent's session closes.", background)
	}
	return action, nil
}

func (a runCommandArgs) timeout(in tools.Input) (time.Duration, error) {
	otherwise := in.Limits.CommandTime
	if in.Timeout > 0 {
		otherwise = in.Timeout
	}
	return seconds("timeout_seconds", a.TimeoutSeconds, otherwise, in.Limits.CommandMax)
}

func commandAnswer(c command, page int, timeout time.Duration, got process.Result, err error) (*tools.Answer, error) {
	if err != nil && got.Stdout == "" && got.Stderr == "" {
		return nil, err
	}
	hint, shown := tools.SandboxHint(c.held, got), pageOfStreams(got, page)
	a := &tools.Answer{
		Result: runCommandResult{
			Command: c.Line, ExitCode: &got.ExitCode, Stdout: shown.Stdout, Stderr: shown.Stderr,
			Truncated: shown.Truncated, DurationMS: got.Duration.Milliseconds(), Sandbox: string(got.Sandbox), Hint: hint, Unsaved: c.unsaved, Blocked: got.Refused,
		},
		Text:    fmt.Sprintf("exit code %d\n", got.ExitCode) + streamsText(shown),
		Paged:   true,
		Summary: fmt.Sprintf("exit code %d after %s", got.ExitCode, got.Duration.Round(time.Millisecond)),
		Display: &tools.Display{Kind: "command", Command: c.Line, ExitCode: &got.ExitCode, Stdout: got.Stdout, Stderr: got.Stderr},
	}
	if hint != "" {
		a.Notes = append(a.Notes, hint)
	}
	a.Notes = append(a.Notes, c.notes(got.Truncated)...)
	switch {
	case err != nil:
		a.Err = fault.From(err)
	case got.TimedOut:
		a.Err = fault.New(fault.Timeout, "the command and all it started were ended after %s", timeout).
			WithHint("use a longer timeout_seconds (at most 600), or run less")
	}
	return a, nil
}

// backgroundAnswer is the answer of a command that goes on as a process.
func backgroundAnswer(c command, page int, p *process.Named, got process.Result, next int64) *tools.Answer {
	text := fmt.Sprintf("still running after %s, as process %s", got.Duration.Round(time.Millisecond), fault.Quote(p.ID))
	shown := pageOfStreams(got, page)
	return &tools.Answer{
		Result: runCommandResult{
			Command: c.Line, Stdout: shown.Stdout, Stderr: shown.Stderr, Truncated: shown.Truncated,
			DurationMS: got.Duration.Milliseconds(), Sandbox: string(got.Sandbox), ProcessID: p.ID, Next: &next, Unsaved: c.unsaved,
		},
		Text:    fmt.Sprintf("%s; read on with read_process since %d\n", text, next) + streamsText(shown),
		Notes:   c.notes(got.Truncated),
		Paged:   true,
		GoesOn:  true,
		Summary: text,
		Display: &tools.Display{Kind: "command", Command: c.Line, Stdout: got.Stdout, Stderr: got.Stderr},
	}
}

// pageOfStreams keeps of what a command printed the beginning and the end of each stream,
// with the share of the page that the other leaves. 0 is no limit.
func pageOfStreams(got process.Result, page int) process.Result {
	if size := len(got.Stdout) + len(got.Stderr); page <= 0 || size <= page && tools.FitsPage(got.Stdout, page) && tools.FitsPage(got.Stderr, page) {
		return got
	}
	shown := got
	shown.Stdout = tools.HeadAndTail(got.Stdout, max(page-len(got.Stderr), page/2))
	shown.Stderr = tools.HeadAndTail(got.Stderr, max(page-len(got.Stdout), page/2))
	shown.Truncated = true
	return shown
}

func streamsText(got process.Result) string {
	var out strings.Builder
	for _, stream := range []struct{ name, text string }{{"stdout", got.Stdout}, {"stderr", got.Stderr}} {
		if stream.text != "" {
			out.WriteString(stream.name + ":\n" + strings.TrimSuffix(stream.text, "\n") + "\n")
		}
	}
	return out.String()
}
