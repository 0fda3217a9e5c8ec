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
	Dir    string    // the sample project
	Server *exec.Cmd // `pillion mcp`, not started
}

// Outcome is what the ride came to.
type Outcome struct {
	Calls    int
	Refused  int  // answered with no by the human
	Stopped  bool // by the human's cancel
	Failed   int  // for any other reason
	LastDiff string
}

// Run has the agent take its steps. A step that the human rejects does not end
// the ride, a cancel does.
func Run(ctx context.Context, o Options) (Outcome, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "sample-agent", Version: "1"}, nil)
	agent, err := client.Connect(ctx, &mcp.CommandTransport{Command: o.Server}, nil)
	if err != nil {
		return Outcome{}, fmt.Errorf("the agent could not start its MCP server: %w", err)
	}
	defer agent.Close() //nolint:errcheck // the ride is over
	var out Outcome
	for _, step := range sample.Ride() {
		if step.Tool == "" && out.Refused > 0 {
			step.Say = "You said no to something, so I leave it at that."
		}
		fmt.Fprintf(o.Out, "\n%s %s\n", o.Style.Cyan("agent:"), step.Say)
		if step.Tool == "" {
			continue
		}
		if err := o.take(ctx, agent, step, &out); err != nil || out.Stopped {
			return out, err
		}
	}
	return out, nil
}

func (o Options) take(ctx context.Context, agent *mcp.ClientSession, step sample.Step, out *Outcome) error {
	arguments, err := json.Marshal(step.Arguments)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(step.Tool, ".", "_")
	fmt.Fprintf(o.Out, "       %s\n", o.Style.Dim(name+" "+clip(string(arguments), 100)))
	out.Calls++
	result, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := textOf(result)
	switch {
	case strings.HasPrefix(text, string(fault.UserRejected)):
		out.Refused++
	case strings.HasPrefix(text, string(fault.Cancelled)):
		out.Refused, out.Stopped = out.Refused+1, true
	case result.IsError:
		out.Failed++
	case step.Tool == "git.diff":
		out.LastDiff = text
	}
	o.show(text, result.IsError)
	return nil
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

// show prints what the agent got back, the beginning of it.
func (o Options) show(text string, failed bool) {
	const most = 18
	lines := strings.Split(fault.Escape(text), "\n")
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("… %d more lines", len(lines)-most))
	}
	if failed {
		for _, line := range lines {
			fmt.Fprintln(o.Out, "     "+o.Style.Red("! "+line))
		}
		return
	}
	for _, line := range lines {
		fmt.Fprint(o.Out, "     ")
		o.Style.Diff(o.Out, line)
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
