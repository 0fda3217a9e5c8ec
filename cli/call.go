package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/approval"
)

const callHelp = `usage: pillion call [--yes] [--json] [-C FOLDER] [--dialect NAME] TOOL [JSON]

Calls a tool as an agent would. Before it changes or runs anything, it shows you what
and asks, in the terminal.

  TOOL         a tool; ` + "`pillion tools`" + ` lists them
  JSON         the tool's arguments; - reads them from standard input
  -C FOLDER    work in FOLDER instead of the current folder
  --editor     go through the editor that is open on the folder, as an agent does: with
               its unsaved text, and its dialogs
  --yes        approve everything, for scripts
  --json       print the whole result as JSON
  --dialect NAME
               call the tools as another agent does: coder or qwen

For example:

  pillion call read_file '{"path": "README.md"}'
  pillion call run_command '{"command": "make test"}'

Without --editor it works on the files on disk, without an editor's unsaved changes: save
your files first.

To edit a proposal before you approve it, it opens $VISUAL or $EDITOR.

The exit status is 0 on success, 1 if the call failed or you rejected it, 2 if the
command line is wrong, 130 after Ctrl+C.
`

// call lets a person call a tool: the same door, the question in the terminal.
func call(args []string) error {
	flags := flag.NewFlagSet("pillion call", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "")
	editor := flags.Bool("editor", false, "")
	asJSON := flags.Bool("json", false, "")
	folder := flags.String("C", ".", "")
	dialect := flags.String("dialect", "", "")
	operands, err := parse(flags, callHelp, [2]int{1, 2}, args)
	if err != nil {
		return err
	}
	arguments, err := argumentsOf(operands[1:])
	if err = errors.Join(err, tools.CheckDialect(*dialect)); err != nil {
		return err
	}
	if *editor && *yes {
		return errors.New("--editor asks in the editor, so --yes cannot answer")
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	if *editor {
		return editorCall{*folder, *dialect, operands[0], arguments, *asJSON}.run(ctx)
	}
	tellOfEditor(*folder)
	c, err := sidecar.ForPerson(*folder, humanAtTerminal(*yes, ctx.Done()))
	if err != nil {
		return err
	}
	result, err := c.CallAsPerson(ctx, *dialect, operands[0], arguments, version)
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	stopped := ctx.Err() != nil && result.Cancelled()
	if stopped && !*asJSON {
		result.Content[0].Text = "\npillion: stopped"
	}
	showResult(c, result, *asJSON)
	switch {
	case stopped:
		return exitInterrupted
	case result.IsError:
		return exitFailed
	}
	return nil
}

func argumentsOf(operands []string) (json.RawMessage, error) {
	switch {
	case len(operands) == 0:
		return nil, nil
	case operands[0] != "-":
		return json.RawMessage(operands[0]), nil
	}
	const most = 64 << 20 // more than any tool takes
	raw, err := io.ReadAll(io.LimitReader(os.Stdin, most+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("the arguments on standard input are longer than %d bytes", most)
	}
	return raw, err
}

// humanAtTerminal asks on the terminal itself, so that a result can be piped out
// and arguments piped in.
func humanAtTerminal(yes bool, stop <-chan struct{}) sidecar.Person {
	if yes {
		return &terminal.Yes{Out: terminal.Stderr, Style: terminal.StyleOf(os.Stderr), Own: true}
	}
	in, out, ok := terminal.Open()
	if !ok {
		return terminal.Nobody{Nobody: approval.Nobody{Why: "run it in a terminal, or with --yes to approve everything"}}
	}
	return terminal.NewAsker(terminal.Options{In: in, Out: out, Style: terminal.StyleOf(out), Own: true, Stop: stop})
}

func showResult(c *sidecar.Sidecar, r tools.Result, asJSON bool) {
	if asJSON {
		terminal.Stdout.Write(append(bytes.Join(r.Pieces(), nil), '\n')) //nolint:errcheck // nobody is left to tell
		return
	}
	asker, asks := c.Registry.Human.(interface{ Asked() bool })
	style := terminal.StyleOf(os.Stdout)
	terminal.Show(terminal.Stdout, terminal.Stderr, r, style, asks && style.Width > 0 && asker.Asked())
	if r.Err != nil && r.Err.Code == fault.ToolNotFound {
		fmt.Fprintln(terminal.Stderr, "`pillion tools` lists the tools.")
	}
}

// editorCall is a call that goes an agent's way, through the editor that is open.
type editorCall struct {
	folder, dialect string
	tool            string
	arguments       json.RawMessage
	asJSON          bool
}

func (c editorCall) run(ctx context.Context) error {
	client, err := c.dial(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(terminal.Stderr, terminal.StyleOf(os.Stderr).Dim("through "+fault.Line(client.Editor())+", which asks you where needed"))
	result, err := client.Call(ctx, relay.Call{Name: c.tool, Arguments: c.arguments}, nil)
	if err = errors.Join(err, client.Close()); err != nil {
		return ended(ctx, err)
	}
	return c.show(result.Bytes())
}

func (c editorCall) dial(ctx context.Context) (*relay.Client, error) {
	dir, err := filepath.Abs(c.folder)
	if err != nil {
		return nil, err
	}
	entry, open, err := relay.Find(dir)
	switch {
	case err != nil:
		return nil, err
	case !open:
		return nil, fmt.Errorf("no editor with Pillion is open on %s; without --editor the call works on the files on disk, and you are asked here", fault.Quote(dir))
	}
	return relay.Dial(ctx, entry, relay.Hello{Agent: relay.Agent{Name: "pillion call", Version: version}, Cwd: dir, Dialect: c.dialect})
}

func (c editorCall) show(raw []byte) error {
	var r struct {
		IsError bool         `json:"isError"`
		Content []tools.Part `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if c.asJSON {
		terminal.Stdout.Write(append(raw, '\n')) //nolint:errcheck // nobody is left to tell
	} else {
		terminal.Show(terminal.Stdout, terminal.Stderr, tools.Result{Content: r.Content, IsError: r.IsError}, terminal.StyleOf(os.Stdout), false)
	}
	if r.IsError {
		return exitFailed
	}
	return nil
}

// tellOfEditor says what a call that does not go through the open editor misses.
func tellOfEditor(folder string) {
	style := terminal.StyleOf(os.Stderr)
	if dir, err := filepath.Abs(folder); err == nil && style.Width > 0 {
		if entry, open, err := relay.Find(dir); err == nil && open && entry.Kind == relay.KindEditor {
			fmt.Fprintln(terminal.Stderr, style.Dim("An editor is open on this folder: its unsaved text is not seen here. --editor goes through it."))
		}
	}
}
