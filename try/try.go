// Package try is the ride for someone who has just got here: a scripted agent, a
// real MCP client behind a real `pillion mcp`, works on the sample project of
// package sample.
//
// Run is the entry point. It is only the agent's side: who answers its questions,
// an editor or a terminal, is whoever is open on the folder.
package try

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/try/sample"
)

// Options are what Run is given.
type Options struct {
	Out    io.Writer
	Style  terminal.Style
	Server *exec.Cmd // `pillion mcp`, not started
}

// Outcome is what the ride came to.
type Outcome struct {
	Steps []Step // the calls that were made, in order
	Left  int    // how many were not made any more
}

// Step is what became of one call.
type Step struct {
	Tool     string     // as the agent calls it, without dots
	What     string     // the file, the words or the command that it is about
	Code     fault.Code // why it failed; "" when it did not
	Message  string     // of the failure
	Feedback string     // what the user said to a refusal
	Edited   bool       // the user changed what was proposed
	ExitCode int        // of a command
}

// Done reports that the call did what it was made for.
func (s Step) Done() bool { return s.Code == "" && s.ExitCode == 0 }

// Ends reports that the agent stops after such a step: the user cancelled, or is
// not there any more.
func (s Step) ends() bool {
	return s.Code == fault.Cancelled || s.Code == fault.ApprovalUnavailable
}

// Run has the agent take its steps. One that the user refuses does not end the
// ride: the agent says so and goes on. The outcome counts even with an error.
func Run(ctx context.Context, o Options) (Outcome, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "sample-agent", Version: "1"}, nil)
	agent, err := client.Connect(ctx, &mcp.CommandTransport{Command: o.Server}, nil)
	if err != nil {
		return Outcome{}, fmt.Errorf("the agent could not start its MCP server: %w", err)
	}
	defer agent.Close() //nolint:errcheck // the ride is over
	r := ride{Options: o, agent: agent}
	return r.run(ctx)
}

type ride struct {
	Options
	agent   *mcp.ClientSession
	outcome Outcome
}

func (r *ride) run(ctx context.Context) (Outcome, error) {
	script := sample.Ride()
	for i, step := range script {
		if step.Tool == "" {
			r.say(r.conclusion(step.Say))
			continue
		}
		r.say(step.Say)
		taken, err := r.take(ctx, step)
		r.outcome.Steps = append(r.outcome.Steps, taken)
		if err != nil || taken.ends() {
			r.outcome.Left = calls(script[i+1:])
			return r.outcome, err
		}
	}
	return r.outcome, nil
}

func calls(steps []sample.Step) int {
	n := 0
	for _, s := range steps {
		if s.Tool != "" {
			n++
		}
	}
	return n
}

func (r *ride) say(text string) {
	fmt.Fprintln(r.Out, "\n"+r.Style.Wrap(r.Style.Cyan("agent:")+" ", "       ", fault.Escape(text)))
}

// conclusion is what the agent says at the end: its own words if all went as
// scripted.
func (r *ride) conclusion(scripted string) string {
	edited, tested := false, false
	for _, s := range r.outcome.Steps {
		switch {
		case s.Tool == "edit_file" && s.Code != "":
			return "That is as far as I get without the edit: the clock still shows 4:5."
		case s.ExitCode != 0:
			return "The tests do not pass, so there is work left."
		}
		edited = edited || s.Edited
		tested = tested || s.Tool == "run_command" && s.Done()
	}
	if edited && !tested {
		return "So the edit is yours, and nobody has tested it. Nothing is committed."
	}
	return scripted
}

// take makes one call and shows what came back. The error is of the connection;
// what the call itself came to is in the step.
func (r *ride) take(ctx context.Context, step sample.Step) (Step, error) {
	taken := Step{Tool: strings.ReplaceAll(step.Tool, ".", "_"), What: about(step.Arguments)}
	fmt.Fprintln(r.Out, "  "+r.Style.Dim(strings.TrimSpace("→ "+taken.Tool+" "+fault.Escape(taken.What))))
	result, err := r.agent.CallTool(ctx, &mcp.CallToolParams{Name: taken.Tool, Arguments: step.Arguments})
	if err != nil {
		taken.Code, taken.Message = fault.Cancelled, "interrupted"
		if ctx.Err() == nil {
			taken.Code, taken.Message = fault.ExecutionFailed, err.Error()
		}
		return taken, fmt.Errorf("%s: %w", taken.Tool, err)
	}
	taken.read(result)
	r.show(taken, textOf(result))
	return taken, nil
}

// about is the one argument that says what a call is about.
func about(arguments map[string]any) string {
	for _, key := range []string{"path", "query", "command"} {
		if text, ok := arguments[key].(string); ok {
			return text
		}
	}
	return ""
}

// read takes from a result what the account at the end is made of.
func (s *Step) read(r *mcp.CallToolResult) {
	var known struct {
		ExitCode int  `json:"exit_code"`
		Edited   bool `json:"edited_by_human"`
		Error    *struct {
			Code    fault.Code `json:"code"`
			Message string     `json:"message"`
			Details struct {
				Feedback string `json:"feedback"`
			} `json:"details"`
		} `json:"error"`
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &known)
	}
	s.ExitCode, s.Edited = known.ExitCode, known.Edited
	switch {
	case known.Error != nil:
		s.Code, s.Message, s.Feedback = known.Error.Code, known.Error.Message, known.Error.Details.Feedback
	case r.IsError || err != nil:
		s.Code, s.Message = fault.ExecutionFailed, textOf(r)
	}
}

func textOf(r *mcp.CallToolResult) string {
	var out []string
	for _, part := range r.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			out = append(out, strings.TrimSuffix(t.Text, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

// show prints what the agent got back, and what it makes of that.
func (r *ride) show(s Step, text string) {
	switch {
	case s.Code == fault.UserRejected && s.Feedback != "":
		r.say("You said no: “" + s.Feedback + "”. Then I leave that.")
	case s.Code == fault.UserRejected:
		r.say("You said no. Then I leave that.")
	case s.Code == fault.Cancelled:
		r.say("You cancelled. I stop here.")
	case s.Code != "":
		fmt.Fprintln(r.Out, r.Style.Wrap("    "+r.Style.Red("!")+" ", "      ", fault.Escape(s.Message)))
	case s.Tool == "git_diff":
		r.Style.Diff(r.Out, "  ", r.shorten(text))
	case s.Tool == "edit_file":
		head, _, _ := strings.Cut(text, "\n")
		fmt.Fprintln(r.Out, "    "+r.Style.Green("✓ ")+fault.Escape(head))
	default:
		for line := range strings.SplitSeq(r.shorten(text), "\n") {
			fmt.Fprintln(r.Out, strings.TrimRight("    "+r.clip(fault.Escape(line)), " "))
		}
	}
	if s.Code == "" && s.Edited {
		r.say("You changed what I proposed, and yours is what counts.")
	}
}

// shorten leaves the beginning of a long text.
func (r *ride) shorten(text string) string {
	const most = 18
	lines := strings.Split(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("… and %d more lines", len(lines)-most))
	}
	return strings.Join(lines, "\n")
}

// clip keeps a line from being broken in two by the terminal.
func (r *ride) clip(line string) string {
	room := r.Style.Width - len("    ")
	runes := []rune(line)
	if r.Style.Width == 0 || len(runes) <= room || room < 1 {
		return line
	}
	return string(runes[:room-1]) + "…"
}
