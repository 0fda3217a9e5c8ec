package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
	"pillion/internal/state"
	"pillion/terminal"
)

const logHelp = `usage: pillion log [-f] [--json] [-n NUMBER] [--session ID] [-C FOLDER]

Shows the latest calls, the agents' and yours, newest last: when, who, which tool, the
outcome, who allowed it, and what it was about. It does not contain files or the output of
commands.

  -f           go on: show each call when it has ended
  -n NUMBER    how many; default 50, 0 for all
  --session ID
               calls of one session
  -C FOLDER    calls in one folder
  --json       print JSON, for programs
`

// logView is which calls are shown, and how.
type logView struct {
	newest          int
	session, folder string
	asJSON          bool
}

// logCommand shows the audit log, and follows it.
func logCommand(args []string) error {
	flags := flag.NewFlagSet("pillion log", flag.ContinueOnError)
	var v logView
	follow := flags.Bool("f", false, "")
	flags.BoolVar(&v.asJSON, "json", false, "")
	flags.IntVar(&v.newest, "n", 50, "")
	flags.StringVar(&v.session, "session", "", "")
	flags.StringVar(&v.folder, "C", "", "")
	if _, err := parse(flags, logHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	dir, err := state.Folder("audit")
	if err == nil && v.folder != "" {
		v.folder, err = realFolder(v.folder)
	}
	if err != nil {
		return err
	}
	last, err := v.showLatest(dir)
	if err == nil && *follow {
		ctx, stop := untilInterrupted()
		defer stop()
		err = v.follow(ctx, dir, last)
	}
	return err
}

func (v *logView) wants(e audit.Entry) bool {
	return e.Tool != "" && (v.session == "" || e.Session == v.session) && (v.folder == "" || e.Folder == v.folder)
}

// showLatest gives the number of the log's last line.
func (v *logView) showLatest(dir string) (last int64, err error) {
	var found []audit.Entry
	err = audit.Read(dir, func(e audit.Entry) bool {
		last = e.N
		if v.wants(e) {
			found = append(found, e)
		}
		if v.newest > 0 && len(found) > 2*v.newest {
			found = append(found[:0], found[len(found)-v.newest:]...)
		}
		return true
	})
	if v.newest > 0 && len(found) > v.newest {
		found = found[len(found)-v.newest:]
	}
	for _, e := range found {
		v.show(e)
	}
	return last, err
}

// follow goes on until it is interrupted.
func (v *logView) follow(ctx context.Context, dir string, after int64) error {
	return audit.Follow(ctx, dir, after, func(e audit.Entry) {
		if v.wants(e) {
			v.show(e)
		}
	})
}

func (v *logView) show(e audit.Entry) {
	if v.asJSON {
		json.NewEncoder(terminal.Stdout).Encode(e) //nolint:errcheck // nobody is left to tell
		return
	}
	fmt.Fprintln(terminal.Stdout, auditLine(e))
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
	columns := []string{e.Time.Local().Format(time.DateTime), e.Agent, e.Tool, outcome, by, strings.Join(about, ", ")}
	for i, c := range columns[:len(columns)-1] {
		if strings.Contains(" "+c+" ", "  ") { // it would pass for two
			columns[i] = strconv.Quote(c)
		}
	}
	return fault.Line(strings.Join(columns, "  "))
}
