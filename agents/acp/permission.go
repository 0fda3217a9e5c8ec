package acp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// permit answers a sub-agent that asks before it uses a tool of its own. Where the sandbox
// keeps it from changing the workspace by itself, a change that it asks for comes again as
// fs/write_text_file and is asked about then, with the text that will be written. All else
// the user is asked about, as what the sub-agent says.
func (a *agent) permit(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	yes, no := option(p.Options, sdk.PermissionOptionKindAllowOnce), option(p.Options, sdk.PermissionOptionKindRejectOnce)
	if yes == nil { // it offers nothing that would not hold for more than this
		return answered(no), nil
	}
	edits := p.ToolCall.Kind != nil && *p.ToolCall.Kind == sdk.ToolKindEdit
	if edits && !a.task.WritesItself && a.task.Process.Confine.Level != process.None {
		return answered(yes), nil
	}
	var f *fault.Error
	switch err := a.ask(ctx, "task_permission", a.claim(p.ToolCall), &struct{}{}); {
	case err == nil:
		if edits {
			a.wrote.expect(p.ToolCall.Content)
		}
		return answered(yes), nil
	case errors.As(err, &f) && f.Code == fault.Cancelled:
		return answered(nil), nil
	case errors.As(err, &f):
		a.said.note(fault.Line(f.Message) + "\n")
		return answered(no), nil
	default:
		return sdk.RequestPermissionResponse{}, err
	}
}

// written are the changes that the user has allowed a sub-agent to make by itself. One
// that tells its editor of them too, by fs/write_text_file, needs no second answer.
type written struct {
	mu    sync.Mutex // guards texts
	texts map[string][sha256.Size]byte
}

func (w *written) expect(content []sdk.ToolCallContent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.texts == nil || len(w.texts) > mostTerminals {
		w.texts = map[string][sha256.Size]byte{}
	}
	for _, c := range content {
		if c.Diff != nil {
			w.texts[c.Diff.Path] = sha256.Sum256([]byte(c.Diff.NewText))
		}
	}
}

// take says whether the text was expected, once.
func (w *written) take(path, text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum, expected := w.texts[path]
	if !expected || sum != sha256.Sum256([]byte(text)) {
		return false
	}
	delete(w.texts, path)
	return true
}

func option(options []sdk.PermissionOption, kind sdk.PermissionOptionKind) *sdk.PermissionOptionId {
	for _, o := range options {
		if o.Kind == kind {
			return &o.OptionId
		}
	}
	return nil
}

// answered chooses an option; nil is none.
func answered(id *sdk.PermissionOptionId) sdk.RequestPermissionResponse {
	if id == nil {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(*id)}
}

// claim is what the sub-agent says that it will do, as arguments of task_permission, which
// shows it whole or refuses it for its length.
func (a *agent) claim(t sdk.ToolCallUpdate) map[string]any {
	out := map[string]any{"title": ""}
	if t.Title != nil {
		out["title"] = a.host.Relative(*t.Title) // opencode's is a path
	}
	var details []string
	if t.Kind != nil {
		out["kind"] = string(*t.Kind)
	}
	input, _ := t.RawInput.(map[string]any)
	if line, is := input["command"].(string); is {
		out["command"] = line
	} else if t.Kind != nil && *t.Kind == sdk.ToolKindExecute {
		out["command"] = out["title"] // Gemini CLI
	}
	for _, l := range t.Locations {
		details = append(details, a.host.Relative(l.Path))
	}
	diffs := false
	for _, c := range t.Content {
		switch {
		case c.Diff != nil:
			diffs = true
			details = append(details, fmt.Sprintf("%s becomes:\n%s", a.host.Relative(c.Diff.Path), c.Diff.NewText))
		case c.Content != nil && c.Content.Content.Text != nil:
			details = append(details, c.Content.Content.Text.Text)
		}
	}
	if len(input) > 0 && !diffs { // else it says the same once more
		if text, err := json.Marshal(input); err == nil {
			details = append(details, string(text))
		}
	}
	out["details"] = strings.Join(details, "\n")
	return out
}
