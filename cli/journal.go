package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pillion/config"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools/approval"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

const journalHelp = `usage: pillion journal [list] [--session ID] [--limit N] [--json] [-C FOLDER]
       pillion journal show [--after | --unsaved] [-C FOLDER] ID [PATH]
       pillion journal revert [--session ID [--turn N]] [--dry-run] [-C FOLDER] [ID]
       pillion journal clear

Shows and reverts what agents changed in a folder, newest first.

  list         the changes, each with its ID (the default)
  show         one change: its state and diff. With a PATH, print that file as it was
               before the change; for a file in a deleted folder, give its own path
  revert       revert a change, a session or one of its turns. Later changes by others
               are kept; where they conflict, the file is left alone and named
  clear        empty the journal of all folders

  --after      with show: the file after the change
  --unsaved    with show: its unsaved text before the change, if there was any
  --dry-run    with revert: only show what would happen
  --session ID
               with list and revert: what was changed in this session
  --turn N     with --session: in this turn
  --limit N    how many to list; default 50
  -C FOLDER    the folder, instead of the current one
  --json       print the list as JSON, for programs

revert works on the files on disk. Save them first, or revert in the editor.
`

// journalFlags are those of all of the journal's commands.
type journalFlags struct {
	dir, session           string
	turn, limit            int
	json, dry, after, mine bool
}

// journalCommand lets a person look into the journal, and put back what is in it.
func journalCommand(args []string) error {
	verb, operands, args, err := verbOf("pillion journal", map[string][2]int{"list": {0, 0}, "show": {1, 2}, "revert": {0, 1}, "clear": {0, 0}}, args)
	if err != nil {
		return err
	}
	var f journalFlags
	flags := flag.NewFlagSet("pillion journal", flag.ContinueOnError)
	flags.StringVar(&f.dir, "C", ".", "")
	flags.StringVar(&f.session, "session", "", "")
	flags.IntVar(&f.turn, "turn", 0, "")
	flags.IntVar(&f.limit, "limit", 50, "")
	flags.BoolVar(&f.json, "json", false, "")
	flags.BoolVar(&f.dry, "dry-run", false, "")
	flags.BoolVar(&f.after, "after", false, "")
	flags.BoolVar(&f.mine, "unsaved", false, "")
	rest, err := parse(flags, journalHelp, operands, args)
	if err != nil {
		return err
	}
	if verb == "revert" && (len(rest) == 1) == (f.session != "") {
		return misuse("pillion journal revert", "name one change by its ID, or a --session")
	}
	at, err := journalAt(f.dir)
	if err != nil {
		return err
	}
	defer at.Close()
	switch verb {
	case "list":
		err = at.list(f)
	case "show":
		err = at.show(f, rest)
	case "revert":
		err = at.revert(f, rest)
	case "clear":
		err = at.clear()
	}
	return err
}

// verbOf is which part of a command is meant, list where none is named, how many operands it takes, and what follows it.
func verbOf(command string, verbs map[string][2]int, args []string) (verb string, operands [2]int, rest []string, err error) {
	verb = "list"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	operands, ok := verbs[verb]
	if !ok {
		err = misuse(command, fmt.Sprintf("there is no %q", verb))
	}
	return verb, operands, args, err
}

// journalOf is the journal as it is seen from one folder.
type journalOf struct {
	*change.Committer
	workspace *workspace.Workspace
	style     terminal.Style
}

func journalAt(dir string) (*journalOf, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	own, _ := config.Load(nil)
	kept, err := sidecar.OpenJournal(own.Journal)
	if err != nil {
		return nil, err
	}
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	if err != nil {
		return nil, err
	}
	_, _ = sidecar.OpenMemory(w, own) //nolint:errcheck // then nobody changed it
	c := &change.Committer{Documents: document.NewStore(w), Journal: kept, Locks: change.Locks{Dir: sidecar.LocksFolder()}}
	return &journalOf{c, w, terminal.StyleOf(os.Stdout)}, nil
}

func (at *journalOf) Close() {
	at.Journal.Store.Close() //nolint:errcheck // what was written is written
	at.workspace.Close()     //nolint:errcheck // the program ends
}

func (at *journalOf) list(f journalFlags) error {
	entries, err := at.History(change.Selection{SessionID: f.session, Turn: f.turn}, f.limit)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(map[string]any{"entries": entries})
	}
	if len(entries) == 0 {
		fmt.Fprintln(terminal.Stdout, "The journal has no changes by agents here.")
	}
	for _, e := range entries {
		at.printEntry(e)
	}
	return nil
}

func (at *journalOf) printEntry(e change.EntryInfo) {
	state := ""
	if e.State != journal.StateDone {
		state = " " + at.style.Yellow(strings.ReplaceAll(string(e.State), "_", " "))
	}
	fmt.Fprintf(terminal.Stdout, "%s  %s  %s%s\n", at.style.Bold(e.ID), e.Time.Local().Format(time.DateTime), fault.Line(e.Title), state)
	fmt.Fprintln(terminal.Stdout, "    "+at.style.Dim(who(e)))
	if e.Why != "" {
		fmt.Fprintln(terminal.Stdout, "    "+fault.Line(e.Why))
	}
	for _, file := range e.Files {
		fmt.Fprintf(terminal.Stdout, "    %-16s %s", strings.ReplaceAll(file.Operation, "_", " "), fromTo(file.Path, file.To))
		if file.Additions+file.Deletions > 0 {
			fmt.Fprintf(terminal.Stdout, " (+%d −%d)", file.Additions, file.Deletions)
		}
		if file.Note != "" {
			fmt.Fprint(terminal.Stdout, ", "+at.style.Yellow(fault.Line(file.Note)))
		}
		fmt.Fprintln(terminal.Stdout)
	}
}

func fromTo(path, to string) string {
	if to == "" {
		return fault.Quote(path)
	}
	return fault.Quote(path) + " → " + fault.Quote(to)
}

func who(e change.EntryInfo) string {
	if e.SessionID == "" {
		return fault.Line(e.Agent.Name)
	}
	turn := fmt.Sprintf("%s, session %s, turn %d", fault.Line(e.Agent.Name), fault.Line(e.SessionID), e.Turn)
	if e.Prompt != "" {
		turn += ", “" + fault.Line(e.Prompt) + "”"
	}
	return turn
}

// entry finds a change by the beginning of its ID.
func (at *journalOf) entry(id string) (journal.Entry, error) {
	found, err := at.Journal.Store.Entries(journal.Query{Limit: 2, Wants: func(e *journal.Entry) bool {
		return strings.HasPrefix(e.ID, id) || e.CallID == id
	}})
	switch {
	case err != nil:
		return journal.Entry{}, err
	case len(found) == 0:
		return journal.Entry{}, errors.New("the journal has no such change; `pillion journal` lists them")
	case len(found) > 1:
		return journal.Entry{}, errors.New("several IDs begin like this; give more of it")
	}
	return found[0], nil
}

func (at *journalOf) show(f journalFlags, operands []string) error {
	e, err := at.entry(operands[0])
	if err != nil {
		return err
	}
	content, err := at.Journal.Store.Content(e)
	if err != nil {
		return err
	}
	defer content.Close()
	if len(operands) == 2 {
		st, err := at.stateOf(e, f, operands[1])
		if err != nil {
			return err
		}
		return content.WriteTo(terminal.Stdout, st)
	}
	info, err := at.History(change.Selection{ID: e.ID}, 1)
	if err == nil && len(info) == 1 {
		at.printEntry(info[0])
	}
	for _, r := range e.Records {
		if diff := change.DiffOf(content, r); diff != "" {
			fmt.Fprintln(terminal.Stdout)
			printDiff(diff)
		}
	}
	return nil
}

// stateOf finds what the journal has of a path.
func (at *journalOf) stateOf(e journal.Entry, f journalFlags, name string) (*journal.State, error) {
	abs := name
	if p, err := at.workspace.Resolve(name); err == nil {
		abs = p.Abs()
	}
	for _, r := range e.Records {
		st := r.Before
		switch {
		case f.after:
			st = r.After
		case f.mine:
			st = r.Buffer
		}
		if st == nil {
			continue
		}
		if r.Path == abs && st.Type == journal.TypeFile {
			return st, nil
		}
		for i, c := range st.Children {
			if c.Type == journal.TypeFile && filepath.Join(r.Path, filepath.FromSlash(c.Name)) == abs {
				return &st.Children[i].State, nil
			}
		}
	}
	return nil, errors.New("the journal has no content of this file for that change")
}

func (at *journalOf) revert(f journalFlags, operands []string) error {
	sel := change.Selection{SessionID: f.session, Turn: f.turn}
	if len(operands) == 1 {
		e, err := at.entry(operands[0])
		if err != nil {
			return err
		}
		sel = change.Selection{ID: e.ID}
	}
	origin := journal.Origin{CallID: rand.Text(), Agent: "you", Via: "terminal", Tool: "journal/revert"}
	r, err := at.Revert(context.Background(), sel, origin, f.dry)
	if err != nil {
		return err
	}
	if f.dry {
		for _, p := range r.Preview {
			if p.Entries != nil { // the diff of a folder is the names in it
				fmt.Fprintf(terminal.Stdout, "%s %s\n", p.Operation, fromTo(p.Path, p.To))
			}
			printDiff(p.Diff)
		}
	}
	for _, name := range r.Reverted {
		fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" "+fault.Quote(name))
	}
	for _, name := range r.Merged {
		fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" "+fault.Quote(name)+", with later changes kept")
	}
	for _, name := range r.Conflicts {
		fmt.Fprintln(terminal.Stdout, at.style.Yellow("•")+" "+fault.Quote(name)+" was left alone: "+fault.Escape(r.Reasons[name]))
	}
	switch {
	case len(r.Reverted)+len(r.Merged)+len(r.Conflicts) == 0:
		fmt.Fprintln(terminal.Stdout, "There is nothing to revert.")
	case f.dry:
		fmt.Fprintln(terminal.Stdout, "Nothing was changed.")
	}
	if len(r.Conflicts) > 0 {
		return errors.New("not everything could be reverted")
	}
	return nil
}

// printDiff shows text that agents wrote, with nothing in it that a terminal obeys.
func printDiff(diff string) {
	for line := range strings.Lines(diff) {
		for i, part := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if i > 0 {
				fmt.Fprint(terminal.Stdout, "\t")
			}
			fmt.Fprint(terminal.Stdout, fault.Escape(part))
		}
		fmt.Fprintln(terminal.Stdout)
	}
}

func (at *journalOf) clear() error {
	in, out, ok := terminal.Open()
	if !ok {
		return errors.New("only you can empty the journal: run `pillion journal clear` in a terminal yourself")
	}
	ctx, stop := untilInterrupted()
	defer stop()
	const yes = "Yes, empty it"
	answer, err := terminal.NewAsker(terminal.Options{In: in, Out: out, Style: terminal.StyleOf(out), Own: true}).
		Prompt(ctx, approval.Agent{}, "Empty the journal of all folders? What agents changed until now can then no longer be reverted.", []string{"No", yes})
	if err != nil || answer != yes {
		return errors.Join(err, errors.New("nothing was removed"))
	}
	removed, left, err := at.Journal.Store.Clear()
	if err != nil {
		return err
	}
	fmt.Fprintf(terminal.Stdout, "%s Emptied: removed %d files.\n", at.style.Green("✓"), removed)
	if left > 0 {
		fmt.Fprintf(terminal.Stdout, "%d files are in use; run this again.\n", left)
	}
	return nil
}
