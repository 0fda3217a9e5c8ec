package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
	"pillion/internal/state"
	"pillion/terminal"
)

const verifyHelp = `usage: pillion audit verify [--json] [HASH...]

Checks whether lines of the log of all calls were changed, removed or moved; the exit status
is 1 if so.

  HASH         printed by an earlier verify: that line must still be there. Without
               one, a program that can write the log could have rewritten it
  --json       print JSON, for programs
`

// auditVerify verifies the audit log.
func auditVerify(args []string) error {
	flags := flag.NewFlagSet("pillion audit verify", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	hashes, err := parse(flags, verifyHelp, [2]int{0, 100}, args)
	if err != nil {
		return err
	}
	dir, err := state.Folder("audit")
	if err != nil {
		return err
	}
	r, err := audit.Verify(dir, hashes...)
	if err != nil {
		return err
	}
	if *asJSON {
		err = json.NewEncoder(terminal.Stdout).Encode(r)
	} else {
		printVerified(r)
	}
	if err == nil && len(r.Problems) > 0 {
		return exitFailed
	}
	return err
}

func printVerified(r audit.Report) {
	if r.Lines == 0 && len(r.Problems) == 0 {
		fmt.Fprintf(terminal.Stdout, "there is no audit log yet in %s\n", r.Dir)
		return
	}
	fmt.Fprintf(terminal.Stdout, "%s: lines %d to %d, of %s to %s\n", r.Dir, r.First, r.Last, r.From.Local().Format(time.DateTime), r.To.Local().Format(time.DateTime))
	if r.Dropped > 0 {
		fmt.Fprintf(terminal.Stdout, "%d calls are missing: too many came at once, or another program had the log locked\n", r.Dropped)
	}
	if r.Torn > 0 {
		fmt.Fprintf(terminal.Stdout, "%d lines are incomplete: a program was killed while it wrote\n", r.Torn)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(terminal.Stdout, "✗ "+fault.Escape(p))
	}
	if len(r.Problems) == 0 {
		fmt.Fprintf(terminal.Stdout, "nothing was changed, removed or moved. The hash of the last line is\n%s\nKeep it elsewhere and pass it to a later verify, which then also detects a rewritten log.\n", r.Hash)
	}
}
