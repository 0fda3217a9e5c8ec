package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
)

const callHelp = `usage: pillion call [--yes] [--json] [-C FOLDER] TOOL [JSON]

Calls a tool as an agent would. Before anything is changed or run you are shown
what it is, in the terminal, and asked.

  TOOL         one of those that ` + "`pillion tools`" + ` lists
  JSON         the tool's arguments; - reads them from standard input
  -C FOLDER    work in FOLDER instead of the current folder
  --yes        approve everything, for scripts
  --json       print the whole result as JSON

For example:

  pillion call read_file '{"path": "README.md"}'
  pillion call run_command '{"command": "make test"}'

It works on the files as they are on disk. What an editor holds unsaved is not
seen, and the editor is not told: save your files first.

To edit a proposal before it is made, it opens $VISUAL, or else $EDITOR.

The exit status is 0 if it was done, 1 if it failed or you refused, 2 if the
command line is wrong, 130 after Ctrl+C.
`

// call lets a person call a tool: the same door, the question in the terminal.
func call(args []string) int {
	flags := flag.NewFlagSet("pillion call", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "")
	asJSON := flags.Bool("json", false, "")
	folder := flags.String("C", ".", "")
	operands, code, ok := parse(flags, callHelp, [2]int{1, 2}, args)
	if !ok {
		return code
	}
	arguments, err := argumentsOf(operands[1:])
	if err != nil {
		return fail(err)
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	c, err := sidecarAt(*folder, humanAtTerminal(*yes, ctx.Done()))
	if err != nil {
		return fail(err)
	}
	result, err := c.callAsPerson(ctx, operands[0], arguments)
	if err = errors.Join(err, c.Close()); err != nil {
		return fail(err)
	}
	stopped := ctx.Err() != nil && result.Cancelled()
	if stopped && !*asJSON {
		result.Content[0].Text = "\npillion: stopped"
	}
	c.showResult(result, *asJSON)
	switch {
	case stopped:
		return exitInterrupted
	case result.IsError:
		return exitFailed
	}
	return 0
}

func argumentsOf(operands []string) (json.RawMessage, error) {
	switch {
	case len(operands) == 0:
		return nil, nil
	case operands[0] != "-":
		return json.RawMessage(operands[0]), nil
	}
	const most = 64 << 20 // more than any tool takes
	raw, err := io.ReadAll(io.LimitReader(os.Stdin, most+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("the arguments on standard input are longer than %d bytes", most)
	}
	return raw, err
}

// asked is a human who can approve and answer.
type asked interface {
	approval.Asker
	tools.Human
}

// humanAtTerminal asks on the terminal itself, so that a result can be piped out
// and arguments piped in.
func humanAtTerminal(yes bool, stop <-chan struct{}) asked {
	if yes {
		return terminal.Yes{Out: os.Stderr, Style: terminal.StyleOf(os.Stderr), Own: true}
	}
	in, out, ok := terminal.Open()
	if !ok {
		return terminal.Nobody{Nobody: approval.Nobody{Why: "run it in a terminal, or with --yes to approve everything"}}
	}
	return terminal.NewAsker(terminal.Options{In: in, Out: out, Style: terminal.StyleOf(out), Own: true, Stop: stop})
}

func (c *sidecar) callAsPerson(ctx context.Context, tool string, arguments json.RawMessage) (tools.Result, error) {
	person, _, err := c.sessions.Open("", session.Agent{Name: "you", Version: version, Via: "terminal"}, "")
	if err != nil {
		return tools.Result{}, err
	}
	return c.registry.Execute(ctx, tools.Call{Name: tool, Arguments: arguments, Session: person}), nil
}

func (c *sidecar) showResult(r tools.Result, asJSON bool) {
	if asJSON {
		os.Stdout.Write(append(bytes.Join(r.Pieces(), nil), '\n')) //nolint:errcheck // nobody is left to tell
		return
	}
	asker, interactive := c.registry.Human.(*terminal.Asker)
	style := terminal.StyleOf(os.Stdout)
	terminal.Show(os.Stdout, os.Stderr, r, style, interactive && style.Width > 0 && asker.Asked())
	if r.Err != nil && r.Err.Code == fault.ToolNotFound {
		fmt.Fprintln(os.Stderr, "`pillion tools` lists the tools that there are.")
	}
}

// sidecarAt is a sidecar without an editor, on one folder.
func sidecarAt(folder string, human asked) (*sidecar, error) {
	s, err := aroundPerson(folder, human)
	if err != nil {
		return nil, err
	}
	return newSidecar(s)
}

func aroundPerson(folder string, human asked) (surroundings, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return surroundings{}, err
	}
	settings, problems := settingsFrom(nil)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "pillion:", p)
	}
	return surroundings{folders: []workspace.Folder{{Dir: dir}}, settings: settings, asker: human, human: human, passing: true}, nil
}

// hosted has agents find the sidecar while work goes on. When it returns nothing runs
// any more.
func (c *sidecar) hosted(h relay.Host, work func(*relay.Server) error) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	h.Registry, h.Sessions, h.Roots, h.Structured, h.Version, h.Logf = c.registry, c.sessions, c.roots, c.structured, version, logf
	agents, err := relay.Listen(h)
	if err != nil {
		return fmt.Errorf("agents would not find this terminal: %w", err)
	}
	defer func() { err = errors.Join(err, agents.Close()) }()
	return work(agents)
}

const versionHelp = "usage: pillion version\n\nPrints the version of this program.\n"

func printVersion(args []string) int {
	if _, code, ok := parse(flag.NewFlagSet("pillion version", flag.ContinueOnError), versionHelp, [2]int{0, 0}, args); !ok {
		return code
	}
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " (" + s.Value[:12] + ")"
			}
		}
	}
	fmt.Printf("pillion %s%s\n", version, revision)
	return 0
}
