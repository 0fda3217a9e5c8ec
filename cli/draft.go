package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools"
)

const draftHelp = `usage: pillion draft [list] [--json] [-C FOLDER]
       pillion draft diff [-C FOLDER] [SESSION]
       pillion draft review [-C FOLDER] [SESSION]
       pillion draft discard [-C FOLDER] [SESSION]

Shows the drafts of agents in a folder, and what becomes of them. A draft is what an agent
in mode draft has changed, which you have not taken yet.

  list         the drafts, each with its session and its files (the default)
  diff         what a draft would change
  review       choose what of it the folder gets. With an editor open on the folder, the
               review opens there
  discard      take a draft away, with all that is in it

  SESSION      whose draft, or the beginning of its id, where there are several
  -C FOLDER    the folder, instead of the current one
  --json       print the list as JSON, for programs
`

// draftCommand shows drafts, and has a person review them.
func draftCommand(args []string) error {
	verb, operands, args, err := verbOf("pillion draft", map[string][2]int{"list": {0, 0}, "diff": {0, 1}, "review": {0, 1}, "discard": {0, 1}}, args)
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("pillion draft", flag.ContinueOnError)
	folder := flags.String("C", ".", "")
	asJSON := flags.Bool("json", false, "")
	rest, err := parse(flags, draftHelp, operands, args)
	if err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	c, err := sidecar.ForPerson(*folder, humanAtTerminal(false, ctx.Done()))
	if err != nil {
		return err
	}
	d := drafts{c, c.LookIntoDrafts(), strings.Join(rest, ""), *folder, *asJSON}
	switch verb {
	case "list":
		err = d.list(ctx)
	case "diff":
		err = d.diff(ctx)
	case "review":
		err = d.review(ctx)
	case "discard":
		err = d.discard(ctx)
	}
	return errors.Join(err, c.Close())
}

// drafts are those of a folder.
type drafts struct {
	sidecar *sidecar.Sidecar
	all     []sidecar.Draft
	session string // the wanted one, or how its id begins
	folder  string
	asJSON  bool
}

func (d drafts) list(ctx context.Context) error {
	out := []tools.DraftInfo{}
	for _, one := range d.all {
		if info, has := d.sidecar.Registry.DraftOf(ctx, one.Owner); has {
			out = append(out, info)
		}
	}
	if d.asJSON {
		return json.NewEncoder(terminal.Stdout).Encode(out)
	}
	if len(out) == 0 {
		fmt.Fprintln(terminal.Stdout, "There is no draft here.")
	}
	for _, info := range out {
		fmt.Fprintf(terminal.Stdout, "%s  %s  %s\n", fault.Line(info.SessionID), fault.Line(info.Agent), tools.Count(len(info.Files), "file"))
		for _, f := range info.Files {
			line := fmt.Sprintf("  %-8s %s  +%d −%d", f.Kind, fault.Quote(f.Path), f.Added, f.Removed)
			if f.Ignored {
				line += "  ignored by git"
			}
			if f.Protected {
				line += "  protected"
			}
			fmt.Fprintln(terminal.Stdout, line)
		}
	}
	return nil
}

// one is the draft that is meant.
func (d drafts) one() (found sidecar.Draft, err error) {
	n := 0
	for _, one := range d.all {
		if strings.HasPrefix(one.Owner.ID(), d.session) {
			found = one
			n++
		}
	}
	switch {
	case n == 0 && d.session == "":
		return found, errors.New("there is no draft here")
	case n == 0:
		return found, fmt.Errorf("no session %s has a draft here; `pillion draft` lists them", fault.Quote(d.session))
	case n > 1:
		return found, errors.New("there are several drafts; name a session: `pillion draft` lists them")
	}
	return found, nil
}

func (d drafts) diff(ctx context.Context) error {
	one, err := d.one()
	if err != nil {
		return err
	}
	set, err := d.sidecar.Registry.DraftSet(ctx, one.Owner)
	if err != nil {
		return err
	}
	style := terminal.StyleOf(os.Stdout)
	for _, f := range set.Preview() {
		style.Diff(terminal.Stdout, "", f.Diff)
	}
	return nil
}

func (d drafts) review(ctx context.Context) error {
	one, err := d.one()
	if err != nil {
		return err
	}
	if !one.Free {
		return d.inEditor(ctx, one)
	}
	result := d.sidecar.Registry.ReviewDraft(ctx, one.Owner)
	showResult(d.sidecar, result, d.asJSON)
	if result.IsError {
		return exitFailed
	}
	return nil
}

// inEditor has the review open where the draft is worked on.
func (d drafts) inEditor(ctx context.Context, one sidecar.Draft) error {
	dir, err := filepath.Abs(d.folder)
	if err != nil {
		return err
	}
	entries, err := relay.FindAll(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := relay.ReviewDraft(ctx, e, one.Owner.ID())
		if errors.Is(err, relay.ErrNoDraft) {
			continue
		}
		if err == nil {
			fmt.Fprintln(terminal.Stdout, text)
		}
		return ended(ctx, err)
	}
	return errors.New("another program works on this draft; try again when it has ended")
}

func (d drafts) discard(context.Context) error {
	one, err := d.one()
	switch {
	case err != nil:
	case !one.Free:
		err = errors.New("the draft is in use: discard it in the editor")
	default:
		err = d.sidecar.Registry.DiscardDraft(one.Owner.ID(), nil)
	}
	return err
}
