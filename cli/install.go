package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pillion/agents/install"
	"pillion/terminal"
	"pillion/workspace/diff"
)

var installHelp = `usage: pillion mcp install [--project] [--uninstall] [--yes] AGENT
       pillion mcp install --print AGENT
       pillion mcp install --json [AGENT]

Sets up AGENT to work through Pillion, in the agent's own configuration: adds
Pillion's tools, and turns off the agent's own tools that change files or run
commands unseen. Shows what it would write, and asks.

  AGENT          ` + install.Choice(install.Agents()) + `
  --project      only for the project in the current folder, instead of all projects
  --uninstall    remove what was installed
  --yes          write without asking, for scripts
  --print        write nothing; print the lines to paste and where they go. Also for
                 cursor, zed, windsurf, goose, crush and vscode
  --json         write nothing; print what would be written as JSON, for programs. Without
                 AGENT: which agents there are, and how each stands

The exit status is 0 if it was written or there was nothing to do, 1 if not.
`

// mcpInstall shows what it would write into an agent's configuration, asks, and
// writes it.
func mcpInstall(args []string) error {
	flags := flag.NewFlagSet("pillion mcp install", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "")
	project := flags.Bool("project", false, "")
	uninstall := flags.Bool("uninstall", false, "")
	show := flags.Bool("print", false, "")
	asJSON := flags.Bool("json", false, "")
	operands, err := parse(flags, installHelp, [2]int{0, 1}, args)
	switch {
	case err != nil:
		return err
	case *asJSON:
		return printInstallJSON(operands, *project, *uninstall)
	case len(operands) == 0:
		return misuse("pillion mcp install", "name an agent: "+install.Choice(install.Agents()))
	case *show:
		return printInstall(operands[0], *project)
	}
	plan, err := planInstall(operands[0], *project, *uninstall)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	err = carryOut(ctx, plan, *yes)
	if ctx.Err() != nil {
		fmt.Fprintln(terminal.Stderr, "\npillion: stopped; nothing was written")
	}
	return ended(ctx, err)
}

// printInstall shows what somebody would paste who sets an agent up by hand.
func printInstall(agent string, project bool) error {
	self, err := lasting()
	if err != nil {
		return err
	}
	text, known := install.Lines(agent, self)
	if known {
		fmt.Fprint(terminal.Stdout, text)
		return nil
	}
	plan, err := planInstall(agent, project, false)
	if err != nil {
		return fmt.Errorf("%w; with --print also %s", err, strings.Join(install.ByHand(), ", "))
	}
	for _, f := range plan.Files {
		if !isOwnRecord(f.Path) {
			fmt.Fprintf(terminal.Stdout, "%s, as a whole:\n\n%s\n", f.Path, f.After)
		}
	}
	if len(plan.Files) == 0 {
		fmt.Fprintln(terminal.Stdout, "Nothing to paste: "+agent+" is already set up this way.")
	}
	return nil
}

// installFor are the options of an installation by this user.
func installFor(binary string) (install.Options, error) {
	home, err := os.UserHomeDir()
	return install.Options{Binary: binary, Home: home, Getenv: os.Getenv}, err
}

// installHere are those in this folder.
func installHere(binary string) (install.Options, error) {
	o, err := installFor(binary)
	if err != nil {
		return o, err
	}
	o.Project, err = os.Getwd()
	return o, err
}

func planInstall(agent string, project, uninstall bool) (install.Plan, error) {
	self, err := lasting()
	if err != nil {
		return install.Plan{}, err
	}
	o, err := installHere(self)
	if err != nil {
		return install.Plan{}, err
	}
	o.Uninstall = uninstall
	if project {
		o.Scope = install.Project
	}
	return install.For(agent, o)
}

func carryOut(ctx context.Context, plan install.Plan, yes bool) error {
	style := terminal.StyleOf(os.Stdout)
	if len(plan.Files) == 0 {
		fmt.Fprintln(terminal.Stdout, style.Green("✓")+" Nothing to do: "+plan.Agent+" is already set up this way.")
		printNotes(style, plan)
		return nil
	}
	for _, f := range plan.Files {
		showChange(style, f)
	}
	if !yes {
		if err := confirm(ctx, question(plan)); err != nil {
			return err
		}
	}
	if err := plan.Apply(); err != nil {
		return err
	}
	fmt.Fprintln(terminal.Stdout, style.Green("✓")+" Written.")
	printNotes(style, plan)
	return nil
}

func question(plan install.Plan) string {
	if len(plan.Files) == 1 {
		return "Write this file?"
	}
	return fmt.Sprintf("Write these %d files?", len(plan.Files))
}

func showChange(style terminal.Style, f install.FileChange) {
	what := ""
	switch {
	case f.Delete:
		what = style.Red("  is deleted, because nothing else is in it")
	case !f.Existed:
		what = style.Dim("  new file")
	}
	fmt.Fprintln(terminal.Stdout, style.Bold(f.Path)+what)
	for _, why := range f.Why {
		fmt.Fprintln(terminal.Stdout, style.Wrap("  • ", "    ", why))
	}
	if !isOwnRecord(f.Path) {
		fmt.Fprintln(terminal.Stdout)
		style.Diff(terminal.Stdout, "", diff.Unified(diff.Hunks(f.Before, f.After, 3)))
	}
	fmt.Fprintln(terminal.Stdout)
}

// isOwnRecord: what Pillion notes for itself need not be read line by line.
func isOwnRecord(path string) bool {
	dir := filepath.Dir(path)
	return filepath.Base(dir) == "install" && filepath.Base(filepath.Dir(dir)) == "pillion"
}

func printNotes(style terminal.Style, plan install.Plan) {
	for _, note := range plan.Notes {
		fmt.Fprintln(terminal.Stdout, "\n"+style.Wrap("", "", note))
	}
}

// confirm asks a question that only a typed yes answers with yes.
func confirm(ctx context.Context, question string) error {
	fmt.Fprint(terminal.Stdout, question+" [y/N] ")
	type reply struct {
		line string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		replies <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-replies:
		answer := strings.ToLower(strings.TrimSpace(r.line))
		switch {
		case answer == "y" || answer == "yes":
			return nil
		case errors.Is(r.err, io.EOF):
			fmt.Fprintln(terminal.Stdout)
			return errors.New("nothing was written, because nobody answered; run it in a terminal, or with --yes")
		}
		return errors.New("nothing was written")
	}
}

// knownAgent is an agent that can be set up, and how it stands: connected, installed,
// or missing on this machine.
type knownAgent struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// plannedInstall is what installing an agent would write.
type plannedInstall struct {
	Agent string        `json:"agent"`
	Name  string        `json:"name"`
	Files []plannedFile `json:"files"` // empty: nothing is to be done
	Notes []string      `json:"notes"`
}

// plannedFile is a file of it. Pillion's own record has no diff.
type plannedFile struct {
	Path string   `json:"path"`
	What string   `json:"what,omitempty"` // new or deleted; else it is changed
	Why  []string `json:"why"`
	Diff string   `json:"diff,omitempty"`
}

// printInstallJSON prints what mcpInstall would write, or without an agent how each stands.
func printInstallJSON(operands []string, project, uninstall bool) error {
	var out any
	var err error
	if len(operands) == 0 {
		out, err = knownAgents()
	} else {
		out, err = plannedFor(operands[0], project, uninstall)
	}
	if err != nil {
		return err
	}
	return printJSON(out)
}

func plannedFor(agent string, project, uninstall bool) (plannedInstall, error) {
	plan, err := planInstall(agent, project, uninstall)
	out := plannedInstall{agent, install.Name(agent), []plannedFile{}, append([]string{}, plan.Notes...)}
	for _, f := range plan.Files {
		one := plannedFile{Path: f.Path, Why: append([]string{}, f.Why...)}
		switch {
		case f.Delete:
			one.What = "deleted"
		case !f.Existed:
			one.What = "new"
		}
		if !isOwnRecord(f.Path) {
			one.Diff = diff.Unified(diff.Hunks(f.Before, f.After, 3))
		}
		out.Files = append(out.Files, one)
	}
	return out, err
}

// knownAgents are all of them. One whose configuration cannot be read is not connected; its
// plan says what is wrong.
func knownAgents() ([]knownAgent, error) {
	here, err := installHere(launcher())
	if err != nil {
		return nil, err
	}
	var out []knownAgent
	for _, id := range install.Agents() {
		one := knownAgent{id, install.Name(id), "missing"}
		if _, err := exec.LookPath(id); err == nil {
			one.State = "installed"
		}
		if s, err := install.Look(id, here); err == nil && len(s.Scopes) > 0 {
			one.State = "connected"
		}
		out = append(out, one)
	}
	return out, nil
}
