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

Tells what Pillion finds here: the folder, the editors that are open on it, the
agents and whether they can act unseen, what is missing, and how to get it. It
changes nothing. What it prints has no tokens in it, and can be pasted into an issue.

  -C FOLDER    look at FOLDER instead of the current folder
  --json       print the findings as JSON, for programs

The exit status is 0 unless there is an error (✗): then something of Pillion does
not work, and it is 1. Warnings (!) and what is missing (○) do not count. It is 2
if the command line is wrong.
`

// examine tells what is found on this machine.
func examine(args []string) int {
	flags := flag.NewFlagSet("pillion doctor", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	folder := flags.String("C", ".", "")
	if _, code, ok := parse(flags, doctorHelp, [2]int{0, 0}, args); !ok {
		return code
	}
	dir, err := filepath.Abs(*folder)
	if err != nil {
		return fail(err)
	}
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	runner, err := process.NewRunner()
	if err != nil {
		return fail(err)
	}
	defer runner.Close()       //nolint:errcheck // nothing runs any more
	own, _ := config.Load(nil) // the doctor tells of their problems
	servers, _ := sidecar.LanguageServers(own.LanguageServers.Servers)
	report := doctor.Examine(ctx, doctor.Subject{Version: version, Binary: self, Folder: dir, Walls: runner.Walls, Servers: servers})
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if *asJSON {
		err = printReport(report)
	} else {
		doctor.Print(os.Stdout, terminal.StyleOf(os.Stdout), report)
	}
	switch {
	case err != nil:
		return fail(err)
	case report.Summary.Errors > 0:
		return exitFailed
	}
	return 0
}

func printReport(r doctor.Report) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	os.Stdout.Write(out.Bytes()) //nolint:errcheck // nobody is left to tell
	return err
}
