package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/term"

	"pillion/agents/relay"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/try"
	"pillion/try/sample"
)

const tryHelp = `usage: pillion try [--yes] [--dir FOLDER]

A scripted agent fixes a bug in a small sample project, and you decide, in this
terminal, what it can do. It works only in the sample's folder.

  --dir FOLDER    the folder for the sample, instead of a new temporary one; it must
                  be empty or not exist yet
  --yes           approve everything, for scripts

Answers can be piped in, one per line: printf 'a\na\n' | pillion try

The exit status is 0 if the agent finished, whatever you answered, 1 if something
failed or the answers ran out, 2 if the command line is wrong, 130 after Ctrl+C.
`

// tryRide has a scripted agent work on a copy of the sample project. The
// questions are asked in this terminal; the agent comes in the way that real
// ones do, through a `pillion mcp` of its own.
func tryRide(args []string) error {
	flags := flag.NewFlagSet("pillion try", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "")
	dir := flags.String("dir", "", "")
	if _, err := parse(flags, tryHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	copied, err := makeSample(*dir)
	if err != nil {
		return err
	}
	style := terminal.StyleOf(os.Stdout)
	introduce(style, copied)
	human := &witness{Person: humanForRide(*yes, style, ctx.Done())}
	outcome, err := ride(ctx, copied, human, style)
	account{style: style, out: terminal.Stdout, sample: copied, outcome: outcome, human: human, interrupted: ctx.Err() != nil}.print()
	if err == nil && outcome.Left > 0 && !human.cancelled() {
		err = exitFailed
	}
	return ended(ctx, err)
}

// sampleCopy is where the sample is.
type sampleCopy struct {
	project string
	remove  string // what to delete when done with it
}

func makeSample(dir string) (sampleCopy, error) {
	if dir == "" {
		parent, err := os.MkdirTemp("", "pillion-try-")
		if err != nil {
			return sampleCopy{}, err
		}
		project := filepath.Join(parent, "kettle")
		return sampleCopy{project: project, remove: parent}, sample.Write(project)
	}
	project, err := filepath.Abs(dir)
	if err != nil {
		return sampleCopy{}, err
	}
	return sampleCopy{project: project, remove: project}, sample.Write(project)
}

func introduce(style terminal.Style, p sampleCopy) {
	fmt.Fprintln(terminal.Stdout, style.Bold("Pillion: an agent works, you decide"))
	fmt.Fprintln(terminal.Stdout)
	fmt.Fprintln(terminal.Stdout, style.Wrap("", "", "A small project with one bug is now in "+p.project+"."))
	fmt.Fprintln(terminal.Stdout, style.Wrap("", "", "A scripted agent looks for the bug. It can read without asking; before it changes a file or runs a command, it asks you here."))
}

// ride lets the agent work until its script ends, or the user does. When it
// returns nothing runs any more, and no agent can find this terminal.
func ride(ctx context.Context, p sampleCopy, human sidecar.Person, style terminal.Style) (outcome try.Outcome, err error) {
	c, err := sidecar.ForPerson(p.project, human)
	if err != nil {
		return outcome, err
	}
	err = c.Host(relay.Host{Version: version, Editor: "this terminal"}, func(*relay.Server) error {
		server, err := mcpServerIn(p.project)
		if err != nil {
			return err
		}
		outcome, err = try.Run(ctx, try.Options{Out: terminal.Stdout, Style: style, Server: server})
		return err
	})
	return outcome, err
}

// humanForRide asks on standard input even when that is no terminal, so that the
// answers can be piped in.
func humanForRide(yes bool, style terminal.Style, stop <-chan struct{}) sidecar.Person {
	if yes {
		return &terminal.Yes{Out: terminal.Stdout, Style: style}
	}
	return terminal.NewAsker(terminal.Options{In: os.Stdin, Out: os.Stdout, Style: style, Stop: stop})
}

// mcpServerIn is this very program as an agent would start it. It ends when its
// input does, also when this program is killed.
func mcpServerIn(project string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := exec.Command(self, "mcp", "--structured", "--answer-within", "0") // a newcomer reads for as long as it takes
	server.Dir = project
	ownGroup(server)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		server.Stderr = io.Discard // its log would run into the questions
	} else {
		server.Stderr = os.Stderr
	}
	return server, nil
}
