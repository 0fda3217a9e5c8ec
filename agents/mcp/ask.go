package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

const openAnEditor = "run `pillion watch` in a terminal in this folder, or open the folder in VS Code or Neovim with Pillion, then make the call again"

// readable is the least time in which a person reads a question and refuses. Programs
// that have nobody to ask decline sooner: `codex exec` after 14 ms.
const readable = 500 * time.Millisecond

// asker asks the user through the agent's own program, by MCP's elicitation,
// one question at a time. It serves where no editor is open.
type asker struct {
	client *sdk.ServerSession
	now    func() time.Time
	turn   chan struct{} // holds one token: whoever has it may ask
}

func newAsker(client *sdk.ServerSession, now func() time.Time) *asker {
	if now == nil {
		now = time.Now
	}
	a := &asker{client: client, now: now, turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	return a
}

// canAsk says if the client has forms for the user.
func (a *asker) canAsk() bool {
	p := a.client.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // neither: a client from before there were two kinds
}

// Ask shows the request as a form. What the user closes without a choice is no
// answer, and is not taken for one.
func (a *asker) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if !a.canAsk() {
		return approval.Nobody{Why: openAnEditor}.Ask(ctx, r)
	}
	on := screenOf(clientName(a.client))
	message, why, whole := question(r, on)
	if !whole {
		return approval.Nobody{Why: "the agent's form is too small for the request; " + openAnEditor}.Ask(ctx, r)
	}
	form := newForm()
	var ids, titles []string
	for _, d := range r.Decisions {
		title := d.Title
		if d.Rule != "" {
			title += " (" + fault.Escape(d.Rule) + ")"
		}
		if d.Rule == "" || on.wraps || len(title) <= titleColumns {
			ids, titles = append(ids, d.ID), append(titles, title)
		}
	}
	form.choice("decision", "Decision", why, ids, titles)
	given, err := a.elicit(ctx, message, form)
	switch {
	case ctx.Err() != nil:
		return approval.Answer{}, ctx.Err()
	case err != nil:
		return approval.Nobody{Why: fmt.Sprintf("the agent cannot ask (%v); %s", err, openAnEditor)}.Ask(ctx, r)
	case given.Action == "cancel":
		return approval.Nobody{Why: "the form was closed without an answer; " + openAnEditor}.Ask(ctx, r)
	}
	chosen, _ := given.Content["decision"].(string)
	if given.Action == "accept" && chosen != approval.RejectID && slices.Contains(ids, chosen) {
		return approval.Answer{Decision: approval.Approve, DecisionID: chosen, Digest: r.Digest}, nil
	}
	reason := a.reason(ctx)
	return approval.Answer{Decision: approval.Reject, Feedback: reason, Digest: r.Digest}, ctx.Err()
}

// reason asks for the reason of a refusal. A form that is closed or left empty gives none.
func (a *asker) reason(ctx context.Context) string {
	form := newForm()
	form.text("reason", "Reason", "")
	given, err := a.elicit(ctx, "Rejected. What should the agent know or do instead? Esc: no reason.", form)
	if err != nil || given.Action != "accept" {
		return ""
	}
	reason, _ := given.Content["reason"].(string)
	return reason
}

// Changed has no way to the form that is open. Its answer is for the older digest,
// so the user is asked again.
func (a *asker) Changed(approval.Changed) {}

// Resolved has nothing to close: the form goes with the context of its Ask.
func (a *asker) Resolved(string, approval.Outcome) {}

// Prompt is tools.Human.
func (a *asker) Prompt(ctx context.Context, _ approval.Agent, message string, actions []string) (string, error) {
	if !a.canAsk() {
		return "", fault.New(fault.ApprovalUnavailable, "nobody can be asked here").WithHint("%s", openAnEditor)
	}
	text, whole := screenOf(clientName(a.client)).fit(fault.Escape(message))
	if !whole {
		return "", fault.New(fault.ApprovalUnavailable, "the agent's form is too small for the question").WithHint("%s", openAnEditor)
	}
	form := newForm()
	form.choice("action", "Answer", "", actions, actions)
	given, err := a.elicit(ctx, text, form)
	if err != nil {
		return "", fault.New(fault.ApprovalUnavailable, "the agent cannot ask: %w", err).WithHint("%s", openAnEditor)
	}
	if action, ok := given.Content["action"].(string); ok && given.Action == "accept" {
		return action, nil
	}
	return "cancel", nil
}

// elicit shows a form. An end that nobody could have caused by reading is an error.
func (a *asker) elicit(ctx context.Context, message string, f *form) (*sdk.ElicitResult, error) {
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	params := &sdk.ElicitParams{Message: message, RequestedSchema: f}
	asked, show := a.now(), a.client.Elicit
	if e := errandOf(ctx); e != nil {
		show = e.ask
	}
	given, err := show(ctx, params)
	if err == nil && given.Action != "accept" && a.now().Sub(asked) < readable {
		return nil, errors.New("nobody could be asked: the agent's program declined before anybody could read the request")
	}
	return given, err
}

// form is the schema of an elicitation: MCP allows flat objects of simple values.
type form struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required,omitempty"`
}

type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	EnumNames   []string `json:"enumNames,omitempty"`
}

func newForm() *form { return &form{Type: "object", Properties: map[string]field{}} }

func (f *form) choice(name, title, description string, ids, titles []string) {
	f.Properties[name] = field{Type: "string", Title: title, Description: description, Enum: ids, EnumNames: titles}
	f.Required = append(f.Required, name)
}

func (f *form) text(name, title, description string) {
	f.Properties[name] = field{Type: "string", Title: title, Description: description}
}
