package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/process"
)

var _ = define(NewExec(Spec{
	Name:  "run_command",
	Title: "Run command",
	Description: "Runs a command line with /bin/sh in the workspace and waits for its end. The human sees the exact line and approves, edits or rejects it. " +
		"The environment is clean (no secrets), there is no terminal, and everything that the command starts ends with it.",
}, planRunCommand))

type runCommandArgs struct {
	Command        string            `json:"command" jsonschema:"the command line, as /bin/sh reads it"`
	Cwd            string            `json:"cwd,omitempty" jsonschema:"folder to run it in, relative to the workspace folder; default is the workspace folder"`
	TimeoutSeconds float64           `json:"timeout_seconds,omitempty" jsonschema:"seconds after which it and all it started are ended; default 120, at most 600"`
	Env            map[string]string `json:"env,omitempty" jsonschema:"variables to add to the clean environment"`
	Stdin          string            `json:"stdin,omitempty" jsonschema:"text for its standard input; default is none"`
}

type runCommandResult struct {
	Command    string   `json:"command"`
	ExitCode   int      `json:"exit_code"`
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	Truncated  bool     `json:"truncated"`
	DurationMS int64    `json:"duration_ms"`
	Sandbox    string   `json:"sandbox"`
	Hint       string   `json:"hint,omitempty"`
	Unsaved    []string `json:"unsaved,omitempty"`
}

func planRunCommand(_ context.Context, in Input, args runCommandArgs) (*Action, error) {
	timeout, err := args.timeout(in)
	if err != nil {
		return nil, err
	}
	c, err := planCommand(in, commandLine{Line: args.Command, Cwd: args.Cwd, Env: args.Env, Stdin: args.Stdin})
	if err != nil {
		return nil, err
	}
	return c.action(func(ctx context.Context, hands Hands, spec process.Spec) (*Answer, error) {
		spec.Timeout = timeout
		got, err := hands.Processes.Run(ctx, spec, hands.stream)
		return commandAnswer(c, timeout, got, err)
	}), nil
}

func (a runCommandArgs) timeout(in Input) (time.Duration, error) {
	otherwise := in.Limits.CommandTime
	if in.Timeout > 0 {
		otherwise = in.Timeout
	}
	return seconds("timeout_seconds", a.TimeoutSeconds, otherwise, in.Limits.CommandMax)
}

func commandAnswer(c command, timeout time.Duration, got process.Result, err error) (*Answer, error) {
	if err != nil && got.Stdout == "" && got.Stderr == "" {
		return nil, err
	}
	hint := limitHint(c.held, got)
	a := &Answer{
		Result: runCommandResult{
			Command: c.Line, ExitCode: got.ExitCode, Stdout: got.Stdout, Stderr: got.Stderr,
			Truncated: got.Truncated, DurationMS: got.Duration.Milliseconds(), Sandbox: string(got.Sandbox), Hint: hint, Unsaved: c.unsaved,
		},
		Text:    commandText(got),
		Summary: fmt.Sprintf("exit code %d after %s", got.ExitCode, got.Duration.Round(time.Millisecond)),
		Display: &Display{Kind: "command", Command: c.Line, ExitCode: &got.ExitCode, Stdout: got.Stdout, Stderr: got.Stderr},
	}
	if hint != "" {
		a.Notes = append(a.Notes, hint)
	}
	switch {
	case err != nil:
		a.Err = fault.From(err)
	case got.TimedOut:
		a.Err = fault.New(fault.Timeout, "the command and all it started were ended after %s", timeout).
			WithHint("give a longer timeout_seconds (at most 600), or run less")
	}
	return a, nil
}

func commandText(got process.Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "exit code %d\n", got.ExitCode)
	for _, stream := range []struct{ name, text string }{{"stdout", got.Stdout}, {"stderr", got.Stderr}} {
		if stream.text != "" {
			out.WriteString(stream.name + ":\n" + strings.TrimSuffix(stream.text, "\n") + "\n")
		}
	}
	return out.String()
}
