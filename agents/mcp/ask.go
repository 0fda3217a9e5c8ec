package mcp

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

const openAnEditor = "run `pillion watch` in a terminal in this folder, or open it in VS Code or Neovim with Pillion, then call again"

// asker asks the human through the agent's own program, by MCP's elicitation,
// one question at a time. It serves where no editor is open.
type asker struct {
	client *sdk.ServerSession
	turn   chan struct{} // holds one token: whoever has it may ask
}

func newAsker(client *sdk.ServerSession) *asker {
	a := &asker{client: client, turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	return a
}

// canAsk says if the client has forms for the human.
func (a *asker) canAsk() bool {
	p := a.client.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // neither: a client from before there were two kinds
}

// Ask shows the request as a form. What the human closes without a choice is no
// answer, and is not taken for one.
func (a *asker) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if !a.canAsk() {
		return approval.Nobody{Why: openAnEditor}.Ask(ctx, r)
	}
	message, whole := question(r)
	if !whole && r.Preview.Kind == "command" {
		return approval.Nobody{Why: "the command is too long to be shown here; " + openAnEditor}.Ask(ctx, r)
	}
	form := newForm()
	ids, titles := make([]string, len(r.Decisions)), make([]string, len(r.Decisions))
	for i, d := range r.Decisions {
		ids[i], titles[i] = d.ID, d.Title
		if d.Rule != "" {
			titles[i] += " (" + fault.Escape(d.Rule) + ")"
		}
	}
	form.choice("decision", "Decision", ids, titles)
	form.text("feedback", "Reason", "what the agent should know or do instead, when you reject")
	given, err := a.elicit(ctx, message, form)
	switch {
	case ctx.Err() != nil:
		return approval.Answer{}, ctx.Err()
	case err != nil:
		return approval.Nobody{Why: fmt.Sprintf("the agent cannot ask (%v); %s", err, openAnEditor)}.Ask(ctx, r)
	}
	switch given.Action {
	case "accept":
		return answer(given.Content, ids, r.Digest), nil
	case "decline":
		return approval.Answer{Decision: approval.Reject, Digest: r.Digest}, nil
	}
	return approval.Nobody{Why: "the question was closed without an answer; " + openAnEditor}.Ask(ctx, r)
}

// answer reads the form; what is not clearly a yes is a no.
func answer(content map[string]any, ids []string, digest string) approval.Answer {
	chosen, _ := content["decision"].(string)
	if chosen == approval.RejectID || !slices.Contains(ids, chosen) {
		feedback, _ := content["feedback"].(string)
		return approval.Answer{Decision: approval.Reject, Feedback: feedback, Digest: digest}
	}
	return approval.Answer{Decision: approval.Approve, DecisionID: chosen, Digest: digest}
}

// Changed has no way to the form that is open. Its answer is for the older digest,
// so the human is asked again.
func (a *asker) Changed(approval.Changed) {}

// Resolved has nothing to close: the form goes with the context of its Ask.
func (a *asker) Resolved(string, approval.Outcome) {}

// Prompt is tools.Human.
func (a *asker) Prompt(ctx context.Context, message string, actions []string) (string, error) {
	if !a.canAsk() {
		return "", fault.New(fault.ApprovalUnavailable, "nobody can be asked here").WithHint("%s", openAnEditor)
	}
	form := newForm()
	form.choice("action", "Answer", actions, actions)
	given, err := a.elicit(ctx, message, form)
	if err != nil {
		return "", fault.New(fault.ApprovalUnavailable, "the agent cannot ask: %w", err).WithHint("%s", openAnEditor)
	}
	if action, ok := given.Content["action"].(string); ok && given.Action == "accept" {
		return action, nil
	}
	return "cancel", nil
}

func (a *asker) elicit(ctx context.Context, message string, f *form) (*sdk.ElicitResult, error) {
	if e := errandOf(ctx); e != nil {
		return e.ask(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: f})
	}
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return a.client.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: f})
}

// form is the schema of an elicitation: MCP allows flat objects of simple values.
type form struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	EnumNames   []string `json:"enumNames,omitempty"`
}

func newForm() *form { return &form{Type: "object", Properties: map[string]field{}} }

func (f *form) choice(name, title string, ids, titles []string) {
	f.Properties[name] = field{Type: "string", Title: title, Enum: ids, EnumNames: titles}
	f.Required = append(f.Required, name)
}

func (f *form) text(name, title, description string) {
	f.Properties[name] = field{Type: "string", Title: title, Description: description}
}
