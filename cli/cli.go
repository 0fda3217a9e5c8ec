// Package cli is the command line: one file a command, and Run, which finds the one
// that is meant. What a command does with agents and files is in the packages below.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sergi/go-diff/diffmatchpatch"
	"golang.org/x/term"

	"pillion/terminal"
	"pillion/tools/process"
)

// build is what `pillion version` prints; version is what editors and agents get of it.
var (
	build   Build
	version string
)

// command is a row of the table: what the list says of a command, its help and the
// function that runs it, whose error gives the exit code. Flags and operands that completion
// offers, and the manual page, are read from the help.
type command struct {
	name, operands, about string
	help                  string
	run                   func(args []string) error
}

// commands is the table.
func commands() []command {
	return []command{
		{"serve", "", "the sidecar, started by an editor", serveHelp, serve},
		{"mcp", "", "the MCP server, started by an agent", mcpHelp, mcpCommand},
		{"mcp install", "AGENT", "set up an agent: Claude Code, Codex and others", installHelp, mcpInstall},
		{"watch", "", "see and answer agents' requests without an editor", watchHelp, watchCommand},
		{"chat", "", "talk to a gateway's agent in this terminal", chatHelp, chat},
		{"call", "TOOL [JSON]", "call a tool yourself, in this folder", callHelp, call},
		{"tools", "[TOOL]", "list the tools, or describe one", toolsHelp, listTools},
		{"trust", "", "trust a project's settings", trustHelp, trust},
		{"rules", "", "list the rules of a folder, and forget some", rulesHelp, rules},
		{"journal", "", "list what agents changed in a folder, and revert it", journalHelp, journalCommand},
		{"draft", "", "list the drafts of agents in a folder, and review them", draftHelp, draftCommand},
		{"session", "", "list agents' sessions and their to-do lists", sessionHelp, sessionCommand},
		{"log", "", "show what agents do, and follow it", logHelp, logCommand},
		{"audit verify", "[HASH]", "check the log of calls for changes", verifyHelp, auditVerify},
		{"try", "", "watch an agent work on a sample project", tryHelp, tryRide},
		{"doctor", "", "check this machine, this folder and your agents", doctorHelp, examine},
		{"completion", "SHELL", "print completion for bash, zsh or fish", completionHelp, printCompletion},
		{"help", "[COMMAND]", "explain a command", helpHelp, explain},
		{"version", "", "print the version", versionHelp, printVersion},
	}
}

// find is the command that the first words name, and what follows them.
func find(words []string) (found command, rest []string, ok bool) {
	for _, c := range commands() {
		name := strings.Fields(c.name)
		if len(name) > len(strings.Fields(found.name)) && len(words) >= len(name) && slices.Equal(words[:len(name)], name) {
			found, rest, ok = c, words[len(name):], true
		}
	}
	return found, rest, ok
}

// Run is the program: it runs the command that the arguments name, and gives its exit
// code. It is called once.
func Run(args []string, from Build) int {
	build, version = from, from.Version
	// Editors show stderr in their log of the sidecar; stdout carries frames.
	log.SetPrefix("pillion: ")
	log.SetFlags(log.Ltime)
	log.SetOutput(terminal.Stderr)
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
		args = []string{"help"}
	}
	switch part := process.Parts[args[0]]; {
	case part != nil:
		return part(args[1:])
	case args[0] == completer:
		complete(args[1:])
		return 0
	case args[0] == prompter:
		prompt(args[1:])
		return 0
	}
	var err error
	if c, rest, ok := find(renamed(args)); ok {
		err = c.run(rest)
	} else {
		err = unknown(args[0])
	}
	var code exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(terminal.Stderr, "pillion:", err)
	return int(exitFailed)
}

// renamed has the names of today for commands that had others.
func renamed(args []string) []string {
	switch {
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	case args[0] == "audit" && len(args) > 1 && args[1] == "show":
		return append([]string{"log"}, args[2:]...)
	case args[0] == "audit" && (len(args) == 1 || strings.HasPrefix(args[1], "-")):
		return append([]string{"log"}, args[1:]...)
	}
	return args
}

// unknown says what was probably meant: the nearest name, if few letters differ.
func unknown(name string) error {
	nearest, least := "", 3
	for _, c := range commands() {
		if d := distance(name, c.name); d < least {
			nearest, least = c.name, d
		}
	}
	hint := "`pillion help` lists the commands"
	if nearest != "" {
		hint = "did you mean `pillion " + nearest + "`?"
	}
	fmt.Fprintf(terminal.Stderr, "pillion: unknown command %q; %s\n", name, hint)
	return exitUsage
}

// distance is how many letters must change, appear or go.
func distance(a, b string) int {
	d := diffmatchpatch.New()
	return d.DiffLevenshtein(d.DiffMain(a, b, false))
}

// The exit codes of every command.
const (
	exitFailed      exit = 1
	exitUsage       exit = 2
	exitInterrupted exit = 130
)

// exit is the code of a command that has said all that is to be said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ended is how a command ended: by an interruption, if there was one.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exitInterrupted
	}
	return err
}

// parse reads a command's flags, wherever they stand among its operands.
func parse(flags *flag.FlagSet, help string, operandsWanted [2]int, args []string) (operands []string, err error) {
	flags.SetOutput(io.Discard)
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			showHelp(flags, help)
			return nil, exit(0)
		case err != nil:
			return nil, misuse(flags.Name(), strings.Replace(err.Error(), ": -", ": --", 1))
		}
		if flags.NArg() == 0 {
			break
		}
		operands = append(operands, flags.Arg(0))
		args = flags.Args()[1:]
	}
	switch least, most := operandsWanted[0], operandsWanted[1]; {
	case len(operands) < least:
		return nil, misuse(flags.Name(), "an argument is missing")
	case len(operands) > most:
		return nil, misuse(flags.Name(), fmt.Sprintf("unexpected argument %q", operands[most]))
	}
	return operands, nil
}

// showHelp is replaced by the test that compares the flags with what the help says.
var showHelp = func(_ *flag.FlagSet, help string) { fmt.Fprint(terminal.Stdout, help) }

func misuse(command, what string) error {
	fmt.Fprintf(terminal.Stderr, "%s: %s; see `%s --help`\n", command, what, command)
	return exitUsage
}

// untilInterrupted ends with the first signal that asks the program to stop; the
// second one has its usual effect.
func untilInterrupted() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// explainTo says to somebody who started a server by hand that it waits for
// someone else.
func explainTo(starter, command string) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		fmt.Fprintf(terminal.Stderr, "%s is started by %s and waits for it here; Ctrl+C ends it. See `%[1]s --help`.\n", command, starter)
	}
}

// realFolder is a folder that was named on the command line, as sidecars know it: absolute,
// and without links where it is there.
func realFolder(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}
