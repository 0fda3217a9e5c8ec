package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"pillion/terminal"
)

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
