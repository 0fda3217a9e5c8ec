package testrig

import (
	"context"
	"encoding/json"

	"pillion/workspace/document"
)

// What an editor without a plugin does.

// Box is its message box. An empty answer dismisses it.
type Box struct {
	Message string
	Actions []string
	Answer  chan string
}

func (e *Editor) box(ctx context.Context, params json.RawMessage) (any, error) {
	if e.OnBox != nil {
		return e.OnBox()
	}
	var p struct {
		Message string `json:"message"`
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	b := &Box{Message: p.Message, Answer: make(chan string, 1)}
	for _, a := range p.Actions {
		b.Actions = append(b.Actions, a.Title)
	}
	if e.KeepsBoxes {
		ctx = context.WithoutCancel(ctx)
	}
	e.Boxes <- b
	chosen, err := await(ctx, b.Answer)
	if err != nil || chosen == "" {
		return json.RawMessage("null"), err
	}
	return map[string]any{"title": chosen}, nil
}

// AskInBox calls a tool that has to ask the user, and gives the message box and the channel on
// which the result will come.
func (e *Editor) AskInBox(tool string, arguments any) (*Box, <-chan Result) {
	e.t.Helper()
	done := e.Start(tool, arguments)
	return Wait(e.t, e.Boxes, "the message box"), done
}

// AnswerBoxes answers each message box with the button title until the call ends:
// a yes that comes at once is asked for again.
func (e *Editor) AnswerBoxes(done <-chan Result, title string) Result {
	e.t.Helper()
	for {
		select {
		case b := <-e.Boxes:
			b.Answer <- title
		case r := <-done:
			return r
		}
	}
}

// Execute runs a command of the sidecar's.
func (e *Editor) Execute(command string, arguments ...any) (result map[string]any, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err = e.Conn.Call(ctx, "workspace/executeCommand", map[string]any{"command": command, "arguments": arguments}, &result)
	return result, err
}

// field is a text of a message's params.
func field(params json.RawMessage, name string) string {
	var p map[string]any
	json.Unmarshal(params, &p) //nolint:errcheck // what is not there is empty
	s, _ := p[name].(string)
	return s
}

// applyEdit is LSP's own way: the version is looked at, nothing is saved.
func (e *Editor) applyEdit(params json.RawMessage) (any, error) {
	if e.OnApplyEdit != nil {
		return e.OnApplyEdit(params)
	}
	var p struct {
		Edit struct {
			DocumentChanges []struct {
				TextDocument struct {
					URI     string `json:"uri"`
					Version int32  `json:"version"`
				} `json:"textDocument"`
				Edits []document.TextEdit `json:"edits"`
			} `json:"documentChanges"`
		} `json:"edit"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range p.Edit.DocumentChanges {
		b := e.buffers[c.TextDocument.URI]
		if b == nil || b.Version != c.TextDocument.Version {
			return map[string]any{"applied": false}, nil
		}
		e.change(c.TextDocument.URI, b, c.Edits, true)
	}
	return map[string]any{"applied": true}, nil
}
