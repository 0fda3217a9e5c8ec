package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/tools/session"
	"pillion/tools/session/kept"
)

const sessionHelp = `usage: pillion session [--json] [--all] [-C FOLDER]
       pillion session [--json] [-f] [--all] [-C FOLDER] ID|AGENT
       pillion session --forget ID

Lists the sessions of agents in a folder, the latest first: those that are open, and those
that are kept for agents that come back. With an id or an agent's name, shows one with its
to-do list and its remembered rules. A session appears after its first call.

  ID, AGENT     an id, its beginning, or the name of an agent: its latest session
  -f, --follow  show it again whenever it changes, until Ctrl+C
  --all         the sessions in all folders
  -C FOLDER     those in this folder, instead of the current one
  --forget ID   forget what is kept of a session. An open one is ended in its editor
  --json        print a line of JSON for each, for programs
`

// sessionCommand shows what sidecars keep of sessions. It changes nothing but by --forget.
func sessionCommand(args []string) error {
	flags := flag.NewFlagSet("pillion session", flag.ContinueOnError)
	v := sessionView{out: terminal.Stdout, now: time.Now}
	flags.StringVar(&v.folder, "C", ".", "")
	flags.BoolVar(&v.all, "all", false, "")
	flags.BoolVar(&v.asJSON, "json", false, "")
	follow := flags.Bool("follow", false, "")
	flags.BoolVar(follow, "f", false, "")
	forget := flags.String("forget", "", "")
	operands, err := parse(flags, sessionHelp, [2]int{0, 1}, args)
	if err != nil {
		return err
	}
	if *forget != "" && (len(operands) > 0 || *follow) {
		return misuse("pillion session", "--forget takes one id and nothing else")
	}
	v.folder, err = realFolder(v.folder)
	switch {
	case err != nil:
	case *forget != "":
		err = v.forget(*forget)
	case *follow:
		err = v.follow(operands)
	case len(operands) == 1:
		err = v.show(operands[0])
	default:
		err = v.list()
	}
	return err
}

// sessionView is which sessions are shown, and how.
type sessionView struct {
	folder string
	all    bool
	asJSON bool
	out    io.Writer
	now    func() time.Time
}

// sessions are those of the folder, the latest first.
func (v *sessionView) sessions() ([]kept.Record, error) {
	all, err := kept.All()
	if err != nil || v.all {
		return all, err
	}
	return slices.DeleteFunc(all, func(r kept.Record) bool {
		return !slices.ContainsFunc(r.Folders, func(root string) bool {
			rest, err := filepath.Rel(root, v.folder)
			return err == nil && filepath.IsLocal(rest)
		})
	}), nil
}

// find is the session that a person means.
func (v *sessionView) find(what string) (kept.Record, error) {
	list, err := v.sessions()
	if err != nil {
		return kept.Record{}, err
	}
	for _, is := range []func(r kept.Record) bool{
		func(r kept.Record) bool { return r.Owner.ID == what },
		func(r kept.Record) bool { return strings.EqualFold(r.Agent.Name, what) },
	} {
		if at := slices.IndexFunc(list, is); at >= 0 {
			return list[at], nil
		}
	}
	begins := slices.DeleteFunc(list, func(r kept.Record) bool { return what == "" || !strings.HasPrefix(r.Owner.ID, what) })
	switch len(begins) {
	case 0:
		return kept.Record{}, fmt.Errorf("no session %s here: `pillion session --all` lists all", fault.Quote(what))
	case 1:
		return begins[0], nil
	}
	return kept.Record{}, fmt.Errorf("%d sessions begin with %s: give more of the id", len(begins), fault.Quote(what))
}

func (v *sessionView) forget(id string) error {
	v.all = true
	r, err := v.find(id)
	switch {
	case err != nil:
		return err
	case r.Owner.ID != id:
		return fmt.Errorf("give the whole id: %s", fault.Quote(r.Owner.ID))
	case r.Open:
		return fmt.Errorf("session %s is open: end it in its editor", fault.Quote(id))
	case !r.Forget():
		return fmt.Errorf("session %s could not be forgotten: it was opened just now, or its file cannot be removed", fault.Quote(id))
	}
	fmt.Fprintln(v.out, clipLine("Forgot session "+id+" of "+r.Agent.Name+"."))
	return nil
}

func (v *sessionView) list() error {
	list, err := v.sessions()
	if err != nil {
		return err
	}
	for i, r := range list {
		if v.asJSON {
			err = errors.Join(err, v.printJSON(r))
			continue
		}
		if i > 0 {
			fmt.Fprintln(v.out)
		}
		v.printHead(r)
		if len(r.Todos) > 0 {
			fmt.Fprintln(v.out, clipLine("  "+session.TodoProgress(r.Todos)))
		}
	}
	if len(list) == 0 && !v.asJSON {
		fmt.Fprintln(v.out, "No agent has worked here yet, or nothing is kept of it any more.")
	}
	return err
}

// listedSession is a session in JSON.
type listedSession struct {
	session.Info
	Open    bool     `json:"open"`
	Folders []string `json:"folders"`
}

func (v *sessionView) printJSON(r kept.Record) error {
	one := listedSession{Info: r.Info(), Open: r.Open, Folders: r.Folders}
	one.Connected = r.Open
	return json.NewEncoder(v.out).Encode(one)
}

func (v *sessionView) show(what string) error {
	r, err := v.find(what)
	if err != nil {
		return err
	}
	return v.print(r)
}

func (v *sessionView) print(r kept.Record) error {
	if v.asJSON {
		return v.printJSON(r)
	}
	v.printHead(r)
	for _, root := range r.Folders {
		fmt.Fprintln(v.out, clipLine("  in "+root))
	}
	if len(r.Todos) > 0 {
		fmt.Fprintln(v.out, "\nTo-do list, "+session.TodoProgress(r.Todos))
		for _, t := range r.Todos {
			priority := ""
			if t.Priority != session.TodoMedium {
				priority = " (" + t.Priority + ")"
			}
			fmt.Fprintln(v.out, clipLine("  "+t.Mark()+" "+t.Content+priority))
		}
	}
	if len(r.Grants) > 0 {
		fmt.Fprintln(v.out, "\nRemembered rules")
		for _, rule := range r.Grants {
			fmt.Fprintln(v.out, clipLine("  "+rule))
		}
	}
	return nil
}

// printHead says who it is, and what it did.
func (v *sessionView) printHead(r kept.Record) {
	state := "away"
	if r.Open {
		state = "open"
	}
	if r.Paused {
		state += ", paused"
	}
	fmt.Fprintln(v.out, clipLine(r.Agent.Name+"  "+r.Owner.ID+"  "+string(r.Mode)+", "+state))
	when := "began " + r.Started.Local().Format("2006-01-02 15:04")
	if !r.Last.IsZero() {
		when += ", " + lasted(r.Last.Sub(r.Started)) + ", last call " + since(v.now().Sub(r.Last))
	}
	fmt.Fprintln(v.out, clipLine("  "+when))
	fmt.Fprintln(v.out, clipLine(fmt.Sprintf("  calls: %d, changes: %d, rejected: %d, refused: %d", r.Calls, r.Changes, r.Rejected, r.Refused)))
}

// follow shows one session, or without a name the latest, whenever it changes.
func (v *sessionView) follow(operands []string) error {
	ctx, stop := untilInterrupted()
	defer stop()
	return v.followUntil(ctx, operands)
}

const followEvery = 250 * time.Millisecond

func (v *sessionView) followUntil(ctx context.Context, operands []string) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for shown := ""; ; {
		r, err := v.followed(operands)
		if err != nil {
			return err
		}
		if now := fmt.Sprint(r.Kept, r.Open); now != shown {
			v.separate(shown == "")
			if err := v.print(r); err != nil {
				return err
			}
			shown = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// separate keeps one state from the next: on a terminal it takes its place.
func (v *sessionView) separate(first bool) {
	if v.asJSON || terminal.Clear(v.out) {
		return
	}
	if !first {
		fmt.Fprintln(v.out)
	}
}

func (v *sessionView) followed(operands []string) (kept.Record, error) {
	if len(operands) == 1 {
		return v.find(operands[0])
	}
	list, err := v.sessions()
	if err == nil && len(list) == 0 {
		err = errors.New("no agent has worked here yet: give another folder, or --all")
	}
	if err != nil {
		return kept.Record{}, err
	}
	return list[0], nil
}

const lineWidth = 80

// clipLine is one line of text that fits a narrow terminal, with all that is invisible shown.
func clipLine(text string) string {
	runes := []rune(strings.ReplaceAll(fault.Line(text), "\t", " "))
	if len(runes) <= lineWidth {
		return string(runes)
	}
	return string(runes[:lineWidth-1]) + "…"
}

func since(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return span(d) + " ago"
}

func lasted(d time.Duration) string {
	if d < time.Minute {
		return "worked for less than a minute"
	}
	return "worked for " + span(d)
}

// span is a time in its largest unit.
func span(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}} {
		if d >= unit.of {
			return fmt.Sprintf("%d %s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
