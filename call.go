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
	"os/signal"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/term"

	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
)

// call lets a person call a tool: the same door, the question in the terminal.
func call(args []string) int {
	flags := flag.NewFlagSet("pillion call", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "approve everything, for scripts")
	asJSON := flags.Bool("json", false, "print the whole result as JSON")
	folder := flags.String("C", ".", "the workspace `folder`")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: pillion call [--yes] [--json] [-C FOLDER] TOOL [JSON]\n\n"+
			"JSON is the tool's arguments, or - to read them from standard input. For example:\n\n"+
			"  pillion call read_file '{\"path\": \"README.md\"}'\n\nSee `pillion tools` for the tools.")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		flags.Usage()
		return 2
	}
	arguments, err := argumentsOf(flags.Arg(1))
	if err != nil {
		return fail(err)
	}
	human, err := humanAtTerminal(*yes)
	if err != nil {
		return fail(err)
	}
	return callHere(*folder, flags.Arg(0), arguments, human, *asJSON)
}

func argumentsOf(arg string) (json.RawMessage, error) {
	if arg != "-" {
		return json.RawMessage(arg), nil
	}
	return io.ReadAll(os.Stdin)
}

// asked is a human who can approve and answer.
type asked interface {
	approval.Asker
	tools.Human
}

// humanAtTerminal asks on the terminal itself, so that a result can be piped.
func humanAtTerminal(yes bool) (asked, error) {
	colour := hasColour(os.Stderr)
	if yes {
		return terminal.Yes{Out: os.Stderr, Colour: colour}, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return terminal.Nobody{Nobody: approval.Nobody{Why: "run it in a terminal, or with --yes to approve everything"}}, nil
	}
	return terminal.NewAsker(os.Stdin, os.Stderr, colour), nil
}

func hasColour(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func callHere(folder, tool string, arguments json.RawMessage, human asked, asJSON bool) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := sidecarAt(folder, human)
	if err != nil {
		return fail(err)
	}
	defer c.Close() //nolint:errcheck // the process ends here
	person, _, err := c.sessions.Open("", session.Agent{Name: "you", Version: version, Via: "terminal"}, "")
	if err != nil {
		return fail(err)
	}
	result := c.registry.Execute(ctx, tools.Call{Name: tool, Arguments: arguments, Session: person})
	if asJSON {
		os.Stdout.Write(append(result.AppendJSON(nil), '\n')) //nolint:errcheck // nobody is left to tell
	} else {
		terminal.Show(os.Stdout, result, hasColour(os.Stdout))
	}
	if result.IsError {
		return 1
	}
	return 0
}

// sidecarAt is a sidecar without an editor, on one folder.
func sidecarAt(folder string, human asked) (*sidecar, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	settings, problems := settingsFrom(nil)
	for _, p := range problems {
		logf("%s", p)
	}
	return newSidecar(surroundings{
		folders: []workspace.Folder{{Dir: dir}}, settings: settings, asker: human, human: human,
	})
}

// listTools prints the catalogue.
func listTools(args []string) int {
	definitions := (&tools.Registry{}).Definitions()
	if len(args) == 1 && args[0] == "--json" {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"tools": definitions}); err != nil {
			return fail(err)
		}
		os.Stdout.Write(out.Bytes()) //nolint:errcheck // nobody is left to tell
		return 0
	}
	for _, d := range definitions {
		fmt.Printf("%-18s %-8s %s\n", d.Name, d.Access, d.Title)
	}
	return 0
}

func printVersion([]string) int {
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
