package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"pillion/agents/relay"
	"pillion/terminal"
	"pillion/try"
	"pillion/try/sample"
)

// tryRide has a scripted agent work on a copy of the sample project. The
// questions are asked in this terminal; the agent comes in the way that real
// ones do, through a `pillion mcp` of its own.
func tryRide(args []string) int {
	flags := flag.NewFlagSet("pillion try", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "approve everything, for scripts")
	dir := flags.String("dir", "", "where to put the sample project; default is a new temporary `folder`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	project, err := makeSample(*dir)
	if err != nil {
		return fail(err)
	}
	if err := ride(ctx, project, *yes); err != nil {
		return fail(err)
	}
	return 0
}

func makeSample(dir string) (string, error) {
	if dir == "" {
		parent, err := os.MkdirTemp("", "pillion-try-")
		if err != nil {
			return "", err
		}
		dir = filepath.Join(parent, "kettle")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, sample.Write(dir)
}

func ride(ctx context.Context, project string, yes bool) error {
	style := terminal.Style{Colour: hasColour(os.Stdout)}
	c, err := sidecarAt(project, humanForRide(yes, style.Colour))
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the process ends here
	agents, err := relay.Listen(relay.Host{Registry: c.registry, Sessions: c.sessions, Roots: c.roots, Editor: "this terminal", Version: version, Logf: logf})
	if err != nil {
		return fmt.Errorf("the agent would not find this terminal: %w", err)
	}
	defer agents.Close() //nolint:errcheck // the process ends here
	server, err := mcpServerIn(ctx, project)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n\nThe sample project is in %s.\nA scripted agent works on it now. What changes something is asked here first.\n",
		style.Bold("Pillion: try it"), project)
	out, err := try.Run(ctx, try.Options{Out: os.Stdout, Style: style, Dir: project, Server: server})
	if err != nil {
		return err
	}
	report(style, project, out)
	if out.Failed > 0 {
		return fmt.Errorf("%d of the agent's calls failed", out.Failed)
	}
	return nil
}

// humanForRide asks on standard input even when that is no terminal, so that the
// answers can be piped in.
func humanForRide(yes, colour bool) asked {
	if yes {
		return terminal.Yes{Out: os.Stdout, Colour: colour}
	}
	asker := terminal.NewAsker(os.Stdin, os.Stdout, colour)
	asker.Echo = !term.IsTerminal(int(os.Stdin.Fd()))
	return asker
}

// mcpServerIn is this very program as an agent would start it.
func mcpServerIn(ctx context.Context, project string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := exec.CommandContext(ctx, self, "mcp")
	server.Dir, server.Stderr = project, os.Stderr
	return server, nil
}

func report(style terminal.Style, project string, out try.Outcome) {
	fmt.Printf("\n%s\n", style.Bold("What happened"))
	fmt.Printf("  The agent made %d calls; you refused %d.\n", out.Calls, out.Refused)
	if strings.Contains(out.LastDiff, "diff --git") {
		fmt.Println("  It changed kettle/clock.py, as the diff above shows. Nothing is committed.")
	} else {
		fmt.Println("  Nothing in the project changed.")
	}
	fmt.Printf("  Look around:  cd %s && git diff && ./run-tests.sh\n", project)
	fmt.Println("\nNext: `make try-vscode` shows the same in VS Code; `pillion mcp install claude` sets a real agent up.")
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return
	}
	fmt.Println("The folder is yours; delete it when you are done.")
}
