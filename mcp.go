package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"pillion/agents/install"
	"pillion/agents/mcp"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/diff"
)

// mcpCommand is the MCP server that an agent starts, or sets an agent up.
func mcpCommand(args []string) int {
	if len(args) > 0 && args[0] == "install" {
		return mcpInstall(args[1:])
	}
	flags := flag.NewFlagSet("pillion mcp", flag.ContinueOnError)
	folder := flags.String("C", ".", "the `folder` that the agent works in")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || flags.NArg() > 0 {
		return 2
	}
	cwd, err := filepath.Abs(*folder)
	if err != nil {
		return fail(err)
	}
	harden()
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = mcp.Serve(ctx, mcp.Options{In: os.Stdin, Out: os.Stdout, Cwd: cwd, Version: version, Alone: aloneIn(cwd), Logf: logf})
	if err != nil && ctx.Err() == nil {
		return fail(err)
	}
	return 0
}

// aloneIn is the door for when no editor is open on the folder.
func aloneIn(cwd string) func(session.Agent, approval.Asker, tools.Human) (*mcp.Door, error) {
	return func(agent session.Agent, asker approval.Asker, human tools.Human) (*mcp.Door, error) {
		settings, problems := settingsFrom(nil)
		for _, p := range problems {
			logf("%s", p)
		}
		c, err := newSidecar(surroundings{folders: []workspace.Folder{{Dir: cwd}}, settings: settings, asker: asker, human: human})
		if err != nil {
			return nil, err
		}
		own, _, err := c.sessions.Open("", agent, "")
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return &mcp.Door{Registry: c.registry, Session: own, Close: c.Close}, nil
	}
}

// mcpInstall shows what it would write into an agent's configuration, asks, and
// writes it.
func mcpInstall(args []string) int {
	flags := flag.NewFlagSet("pillion mcp install", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "write without asking, for scripts")
	project := flags.Bool("project", false, "for this project alone, not for the user")
	uninstall := flags.Bool("uninstall", false, "take out what was installed")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: pillion mcp install [--project] [--uninstall] [--yes] AGENT\n\nAGENT is one of: %s\n", strings.Join(install.Agents(), ", "))
		flags.PrintDefaults()
	}
	agent, err := parseWithOperand(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	plan, err := planInstall(agent, *project, *uninstall)
	if err != nil {
		return fail(err)
	}
	if err := carryOut(plan, *yes); err != nil {
		return fail(err)
	}
	return 0
}

// parseWithOperand takes flags before and after the one operand.
func parseWithOperand(flags *flag.FlagSet, args []string) (string, error) {
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	operand := flags.Arg(0)
	if flags.NArg() > 1 {
		if err := flags.Parse(flags.Args()[1:]); err != nil {
			return "", err
		}
		if flags.NArg() > 0 {
			operand = ""
		}
	}
	if operand == "" {
		flags.Usage()
		return "", errors.New("one agent is wanted")
	}
	return operand, nil
}

func planInstall(agent string, project, uninstall bool) (install.Plan, error) {
	self, err := os.Executable()
	if err != nil {
		return install.Plan{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return install.Plan{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return install.Plan{}, err
	}
	scope := install.User
	if project {
		scope = install.Project
	}
	return install.For(agent, install.Options{
		Binary: self, Project: cwd, Home: home, Getenv: os.Getenv, Scope: scope, Uninstall: uninstall,
	})
}

func carryOut(plan install.Plan, yes bool) error {
	style := terminal.Style{Colour: hasColour(os.Stdout)}
	if len(plan.Files) == 0 {
		fmt.Println("Nothing to do: it is set up as wanted.")
		printNotes(plan)
		return nil
	}
	for _, f := range plan.Files {
		fmt.Println(style.Bold(f.Path))
		for _, why := range f.Why {
			fmt.Println("  • " + why)
		}
		style.Diff(os.Stdout, diff.Unified(diff.Hunks(f.Before, f.After, 3)))
		fmt.Println()
	}
	if !yes && !confirmed("Write this?") {
		return errors.New("nothing was written")
	}
	if err := plan.Apply(); err != nil {
		return err
	}
	fmt.Println(style.Green("✓") + " written")
	printNotes(plan)
	return nil
}

func printNotes(plan install.Plan) {
	for _, note := range plan.Notes {
		fmt.Println("\n" + note)
	}
}

// confirmed asks a question that only a typed yes answers with yes.
func confirmed(question string) bool {
	fmt.Print(question + " [y/N] ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}
