package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/terminal"
	"pillion/tools"
)

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
