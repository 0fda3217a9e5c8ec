package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pillion/config"
	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/tools/approval"
	"pillion/workspace"
)

const trustHelp = `usage: pillion trust [-C FOLDER] [--forget]

Shows what a project's own settings, .pillion/settings.json, let agents do that yours
do not, and asks whether you trust them. Stricter settings apply without trust.

Trust covers exactly the bytes of the file, in this folder, for you, on this machine:
when the file changes, its looser settings stop to apply, and you are asked again.
You may say no for editors as well: they ask again when the file changes.

  -C FOLDER    the project's folder, instead of the current one
  --forget     withdraw your trust

It asks in a terminal, and no flag answers for you.

The exit status is 0 if the file is trusted or there is nothing to trust, 1 if not.
`

// trust asks a person in a terminal whether they trust a project's settings.
func trust(args []string) error {
	flags := flag.NewFlagSet("pillion trust", flag.ContinueOnError)
	dir := flags.String("C", ".", "")
	forget := flags.Bool("forget", false, "")
	if _, err := parse(flags, trustHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	at, err := settingsAt(*dir)
	if err != nil {
		return err
	}
	defer at.Close()
	if *forget {
		err = at.forgetTrust()
	} else {
		err = at.askForTrust(ctx)
	}
	return ended(ctx, err)
}

// folderSettings is the settings of one folder as the command line sees them: the
// user's own, without an editor's.
type folderSettings struct {
	*workspace.Workspace
	config.Folder
	own      config.Settings
	layers   *config.Layers
	view     *config.View
	book     *config.Consent
	problems []string
	style    terminal.Style
}

func settingsAt(dir string) (*folderSettings, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	book, err := config.OpenConsent()
	if err != nil {
		return nil, err
	}
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	if err != nil {
		return nil, err
	}
	own, problems := config.Load(nil)
	at := &folderSettings{Workspace: w, own: own, layers: config.NewLayers(own, book), book: book, style: terminal.StyleOf(os.Stdout)}
	at.view = at.layers.Look(w.Roots())
	at.Folder = at.view.Folders[0]
	at.problems = slices.Concat(problems, at.Problems)
	return at, nil
}

func (at *folderSettings) printProblems() {
	for _, p := range at.problems {
		fmt.Fprintln(terminal.Stderr, "pillion:", p)
	}
}

func (at *folderSettings) askForTrust(ctx context.Context) error {
	at.printProblems()
	file := fault.Escape(at.File)
	switch {
	case at.Linked:
		return fmt.Errorf("%s is reached through a link, which is never trusted; replace it with the file itself", file)
	case at.Hash == "":
		fmt.Fprintln(terminal.Stdout, "There is nothing to trust: "+file+" is not there, or cannot be read.")
		return nil
	case len(at.Loosens) == 0:
		fmt.Fprintln(terminal.Stdout, "There is nothing to trust: "+file+" loosens nothing.")
		return nil
	case at.Trusted:
		fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" "+file+" is already trusted.")
		return nil
	}
	in, out, ok := terminal.Open()
	if !ok {
		return errors.New("only you can trust a project's settings: run `pillion trust` in a terminal yourself")
	}
	style := terminal.StyleOf(out)
	fmt.Fprintf(out, "%s lets agents do more than your own settings:\n\n", style.Bold(file))
	for _, line := range at.Loosens {
		fmt.Fprintln(out, style.Wrap("  "+style.Yellow("•")+" ", "    ", fault.Escape(line)))
	}
	const (
		never = "No, and editors need not ask about this text"
		yes   = "Yes, trust exactly this text, in this folder"
	)
	answer, err := terminal.NewAsker(terminal.Options{In: in, Out: out, Style: style, Own: true}).
		Prompt(ctx, approval.Agent{}, "Do you trust it? It was written by the project's author.", []string{"No", yes, never})
	switch {
	case err != nil:
		return err
	case answer == never:
		if err := at.layers.Ignore(at.Roots(), at.File, at.Hash); err != nil {
			return err
		}
		return errors.New("nothing is trusted; editors ask again when the file changes")
	case answer != yes:
		return errors.New("nothing is trusted")
	}
	if err := at.layers.Trust(at.Roots(), at.File, at.Hash); err != nil {
		return err
	}
	fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" Trusted until it changes. `pillion trust --forget` withdraws it.")
	return nil
}

func (at *folderSettings) forgetTrust() error {
	page, err := at.book.Page(at.Root)
	if err != nil {
		return err
	}
	if page.Trusted == "" {
		fmt.Fprintln(terminal.Stdout, "Nothing was trusted in this folder.")
		return nil
	}
	if err := at.book.Trust(at.Root, ""); err != nil {
		return err
	}
	fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" Forgotten: the project's looser settings no longer apply.")
	return nil
}
