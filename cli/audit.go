package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
	"pillion/internal/state"
)

const auditHelp = `usage: pillion audit [show] [--json] [-n NUMBER] [--session ID] [-C FOLDER]
       pillion audit verify [--json] [HASH...]

Shows the log of all calls, the agents' and yours: who called what, who allowed it, and
the outcome. The log does not contain files or the output of commands.

  show         the latest calls, newest last (the default)
  -n NUMBER    how many; default 50, 0 for all
  --session ID
               calls of one session
  -C FOLDER    calls in one folder
  verify       check whether lines were changed, removed or moved; the exit status
               is 1 if so
  HASH         printed by an earlier verify: that line must still be there. Without
               one, a program that can write the log could have rewritten it
  --json       print JSON, for programs
`

// auditCommand shows the audit log, or verifies it.
func auditCommand(args []string) int {
	what := "show"
	if len(args) > 0 && (args[0] == "show" || args[0] == "verify") {
		what, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("pillion audit", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	most := 0
	var filter auditFilter
	if what == "verify" {
		most = 100
	} else {
		flags.IntVar(&filter.newest, "n", 50, "")
		flags.StringVar(&filter.session, "session", "", "")
		flags.StringVar(&filter.folder, "C", "", "")
	}
	operands, code, ok := parse(flags, auditHelp, [2]int{0, most}, args)
	if !ok {
		return code
	}
	dir, err := state.Folder("audit")
	if err != nil {
		return fail(err)
	}
	if what == "verify" {
		return verifyAudit(dir, operands, *asJSON)
	}
	if err := showAudit(dir, filter, *asJSON); err != nil {
		return fail(err)
	}
	return 0
}

func verifyAudit(dir string, hashes []string, asJSON bool) int {
	r, err := audit.Verify(dir, hashes...)
	if err != nil {
		return fail(err)
	}
	if asJSON {
		err = json.NewEncoder(os.Stdout).Encode(r)
	} else {
		printVerified(r)
	}
	if err != nil {
		return fail(err)
	}
	if len(r.Problems) > 0 {
		return exitFailed
	}
	return 0
}

func printVerified(r audit.Report) {
	if r.Lines == 0 && len(r.Problems) == 0 {
		fmt.Printf("there is no audit log yet in %s\n", r.Dir)
		return
	}
	fmt.Printf("%s: lines %d to %d, of %s to %s\n", r.Dir, r.First, r.Last, r.From.Local().Format(time.DateTime), r.To.Local().Format(time.DateTime))
	if r.Dropped > 0 {
		fmt.Printf("%d calls are missing: too many came at once, or another program had the log locked\n", r.Dropped)
	}
	if r.Torn > 0 {
		fmt.Printf("%d lines are incomplete: a program was killed while it wrote\n", r.Torn)
	}
	for _, p := range r.Problems {
		fmt.Println("✗ " + fault.Escape(p))
	}
	if len(r.Problems) == 0 {
		fmt.Printf("nothing was changed, removed or moved. The hash of the last line is\n%s\nKeep it elsewhere and pass it to a later verify, which then also detects a rewritten log.\n", r.Hash)
	}
}

// auditFilter is which calls are shown.
type auditFilter struct {
	newest          int
	session, folder string
}

func showAudit(dir string, f auditFilter, asJSON bool) error {
	if f.folder != "" {
		abs, err := filepath.Abs(f.folder)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		f.folder = abs
	}
	var found []audit.Entry
	err := audit.Read(dir, func(e audit.Entry) bool {
		if e.Tool != "" && (f.session == "" || e.Session == f.session) && (f.folder == "" || e.Folder == f.folder) {
			found = append(found, e)
		}
		if f.newest > 0 && len(found) > 2*f.newest {
			found = append(found[:0], found[len(found)-f.newest:]...)
		}
		return true
	})
	if f.newest > 0 && len(found) > f.newest {
		found = found[len(found)-f.newest:]
	}
	for _, e := range found {
		if asJSON {
			if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
				return err
			}
			continue
		}
		fmt.Println(auditLine(e))
	}
	return err
}

// auditLine is a call in one line: when, who, what, what became of it and by whose
// word.
func auditLine(e audit.Entry) string {
	about := append([]string(nil), e.Paths...)
	for _, file := range e.Files {
		about = append(about, strings.TrimSpace(file.Operation+" "+file.Path+" "+file.To))
	}
	if e.Command != "" {
		about = append(about, e.Command)
	}
	outcome := e.Outcome
	if e.Code != "" {
		outcome = e.Code
	}
	by := strings.Join(strings.Fields(e.Decision+" "+e.By+" "+e.Answer), "/")
	if by == "" {
		by = "-"
	}
	line := strings.Join([]string{e.Time.Local().Format(time.DateTime), e.Agent, e.Tool, outcome, by, strings.Join(about, ", ")}, "  ")
	return fault.Line(line)
}
