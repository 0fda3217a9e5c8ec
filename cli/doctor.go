package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"

	"pillion/config"
	"pillion/doctor"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools/process"
)

const doctorHelp = `usage: pillion doctor [--json] [-C FOLDER]

Checks this machine: the folder, the editors that have it open, the agents and whether
they can act unseen, what is missing, and how to get it. It changes nothing. The output
contains no tokens; you can paste it into an issue.

  -C FOLDER    check FOLDER instead of the current folder
  --json       print the findings as JSON, for programs

The exit status is 1 if there is an error (✗): a part of Pillion does not work. It is 2
if the command line is wrong, otherwise 0, even with warnings (!) and missing parts (○).
`

// examine tells what is found on this machine.
func examine(args []string) error {
	flags := flag.NewFlagSet("pillion doctor", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	folder := flags.String("C", ".", "")
	if _, err := parse(flags, doctorHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	dir, err := filepath.Abs(*folder)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	runner, err := process.NewRunner()
	if err != nil {
		return err
	}
	defer runner.Close()       //nolint:errcheck // nothing runs any more
	own, _ := config.Load(nil) // the doctor tells of their problems
	servers, _ := sidecar.LanguageServers(own.LanguageServers.Servers)
	report := doctor.Examine(ctx, doctor.Subject{Version: version, Binary: self, Folder: dir, Walls: runner.Walls, Escapes: runner.TryEscapes, Servers: servers})
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case *asJSON:
		err = printJSON(report)
	default:
		doctor.Print(terminal.Stdout, terminal.StyleOf(os.Stdout), report)
	}
	if err == nil && report.Summary.Errors > 0 {
		return exitFailed
	}
	return err
}

func printJSON(v any) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	terminal.Stdout.Write(out.Bytes()) //nolint:errcheck // nobody is left to tell
	return err
}
