package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
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
	Unsaved    []string `json:"unsaved,omitempty"`
}

// noSandbox is what holds a command today: it runs with the user's own rights.
const noSandbox = "none"

func planRunCommand(_ context.Context, in Input, args runCommandArgs) (*Action, error) {
	dir, timeout, err := args.check(in)
	if err != nil {
		return nil, err
	}
	unsaved := unsavedFiles(in)
	cwd := dir.String()
	preview := approval.Preview{Kind: "command", Command: args.Command, Cwd: cwd, Network: true, Sandbox: noSandbox, Unsaved: unsaved}
	preview.Parts, preview.Writes = commandParts(args.Command)
	return &Action{
		Title:   "Run " + fault.Escape(clip(firstLine(args.Command), 60)),
		Preview: preview,
		Command: &policy.Command{Line: args.Command, Cwd: cwd, Env: args.Env, Stdin: args.Stdin},
		Reasons: args.reasons(unsaved),
		Run: func(ctx context.Context, hands Hands) (*Answer, error) {
			spec := process.Spec{
				Command: args.Command, Dir: dir.Abs(), Env: args.Env, Stdin: args.Stdin,
				Timeout: timeout, OutputLimit: in.Limits.OutputBytes,
			}
			got, err := hands.Processes.Run(ctx, spec, func(s process.Stream, text []byte) { hands.Output(string(s), string(text)) })
			return commandAnswer(args.Command, unsaved, timeout, got, err)
		},
	}, nil
}

func (a runCommandArgs) check(in Input) (workspace.Path, time.Duration, error) {
	timeout := in.Limits.CommandTime
	if in.Timeout > 0 {
		timeout = in.Timeout
	}
	if a.TimeoutSeconds > 0 {
		timeout = time.Duration(a.TimeoutSeconds * float64(time.Second))
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return workspace.Path{}, 0, invalid("command is empty; it is the line to run")
	case strings.ContainsRune(a.Command, 0):
		return workspace.Path{}, 0, invalid("command has a NUL byte; leave it out")
	case a.TimeoutSeconds < 0 || timeout > in.Limits.CommandMax:
		return workspace.Path{}, 0, invalid("timeout_seconds must be between 0 and %g", in.Limits.CommandMax.Seconds())
	}
	for name := range a.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(a.Env[name], 0) {
			return workspace.Path{}, 0, invalid("no variable can be called %s; give a plain name and value", fault.Quote(name))
		}
	}
	dir, err := oneFolder(in, "cwd", a.Cwd)
	if err != nil {
		return dir, 0, err
	}
	info, err := dir.Stat()
	if err == nil && !info.IsDir() {
		err = fault.New(fault.NotAFile, "cwd %s is a file, not a folder; name the folder to run in", fault.Quote(dir.String()))
	}
	return dir, timeout, err
}

func (a runCommandArgs) reasons(unsaved []string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		out = append(out, "it sets "+fault.Quote(name)+" to "+fault.Quote(clip(a.Env[name], 200)))
	}
	if a.Stdin != "" {
		out = append(out, "it reads this text: "+fault.Quote(clip(a.Stdin, 500)))
	}
	if len(unsaved) > 0 {
		out = append(out, "it would not see your unsaved changes in "+strings.Join(unsaved, ", "))
	}
	return out
}

func unsavedFiles(in Input) []string {
	var out []string
	for _, b := range in.Snapshot.Dirty() {
		out = append(out, b.Path.String())
	}
	slices.Sort(out)
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func commandAnswer(command string, unsaved []string, timeout time.Duration, got process.Result, err error) (*Answer, error) {
	if err != nil && got.Stdout == "" && got.Stderr == "" {
		return nil, err
	}
	a := &Answer{
		Result: runCommandResult{
			Command: command, ExitCode: got.ExitCode, Stdout: got.Stdout, Stderr: got.Stderr,
			Truncated: got.Truncated, DurationMS: got.Duration.Milliseconds(), Sandbox: noSandbox, Unsaved: unsaved,
		},
		Text:    commandText(got),
		Summary: fmt.Sprintf("exit code %d after %s", got.ExitCode, got.Duration.Round(time.Millisecond)),
		Display: &Display{Kind: "command", Command: command, ExitCode: &got.ExitCode, Stdout: got.Stdout, Stderr: got.Stderr},
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

// commandParts is what the line would run and write, as far as it can be read.
func commandParts(line string) ([]approval.CommandPart, []string) {
	parsed := policy.ReadCommand(line)
	parts := make([]approval.CommandPart, 0, len(parsed.Parts))
	for _, p := range parsed.Parts {
		parts = append(parts, approval.CommandPart{Argv: p.Argv, Why: p.Why})
	}
	return parts, append([]string{}, parsed.Writes...)
}
