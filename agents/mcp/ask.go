package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	// watched says if somebody can be asked elsewhere by now, about which folder.
	watched func(ctx context.Context) (folder string, yes bool)
	turn    turn // whoever has it may ask
}

func newAsker(client *sdk.ServerSession, now func() time.Time, watched func(context.Context) (string, bool)) *asker {
	if now == nil {
		now = time.Now
	}
	return &asker{client: client, now: now, watched: watched, turn: make(turn, 1)}
}

// turn is a lock that is waited for only as long as a context lasts. It has room for one.
type turn chan struct{}

func (t turn) acquire(ctx context.Context) (leave func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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

// Ask shows the request as a form, or as several. What the user closes without a choice is
// no answer, and is not taken for one.
func (a *asker) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if !a.canAsk() {
		return approval.Nobody{Why: openAnEditor}.Ask(ctx, r)
	}
	leave, err := a.turn.acquire(ctx)
	if err != nil {
		return approval.Answer{}, err
	}
	defer leave()
	on := clientOf(clientName(a.client)).screen
	pages, why := question(r, on)
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
	given, err := a.show(ctx, kindNames[r.Preview.Kind], pages, form)
	switch {
	case ctx.Err() != nil:
		return approval.Answer{}, ctx.Err()
	case errors.Is(err, errMoved):
		return approval.Nobody{Why: err.Error()}.Ask(ctx, r)
	case err != nil:
		return approval.Nobody{Why: cannotAsk(err) + "; " + openAnEditor}.Ask(ctx, r)
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

// kindNames are what a form that is too small calls a request, by the kind of its preview.
var kindNames = map[string]string{"diff": "change", "command": "command"}

// mostParts is in how many forms one after the other a person still reads a request as a
// whole. What is longer is read elsewhere. A client of the newest revision asks ten times
// for one call, the reason of a refusal included.
const mostParts = 6

// show shows a text in as many forms as it takes, and asks in the last of them. A refusal of
// any refuses; one that is closed is no answer.
func (a *asker) show(ctx context.Context, what string, pages []string, asks *form) (*sdk.ElicitResult, error) {
	if len(pages) > mostParts {
		return a.sendElsewhere(ctx, cmp.Or(what, "request"))
	}
	last := len(pages) - 1
	for i, page := range pages[:last] {
		next := newForm()
		next.choice("part", partOf(i, pages), "", []string{partNext, approval.RejectID}, []string{"Show the next part", "Reject"})
		next.preset("part", partNext)
		if given, err := a.elicit(ctx, page, next); err != nil || given.Content["part"] != partNext {
			return refusal(given), err
		}
	}
	if last > 0 {
		asks.head(partOf(last, pages))
	}
	return a.elicit(ctx, pages[last], asks)
}

const partNext = "next"

func partOf(i int, pages []string) string { return fmt.Sprintf("Part %d of %d", i+1, len(pages)) }

// refusal is an answer with nothing in it that could pass for a yes.
func refusal(given *sdk.ElicitResult) *sdk.ElicitResult {
	if given != nil && given.Action == "accept" {
		return &sdk.ElicitResult{Action: "decline"}
	}
	return given
}

// errMoved ends a call here that is made again where somebody can be shown it.
var errMoved = errors.New("the user reads the request elsewhere")

// sendElsewhere says where a request can be read that no form shows. Once somebody can be
// asked there, the call goes there.
func (a *asker) sendElsewhere(ctx context.Context, what string) (*sdk.ElicitResult, error) {
	const again = "again"
	text := "This " + what + " does not fit here."
	for {
		form := newForm()
		form.choice("then", "Then", "", []string{approval.RejectID, again}, []string{"Reject", "Try again"})
		given, err := a.elicit(ctx, text+"\nRun `pillion watch` in another terminal, then choose Try again.", form)
		if err != nil || given.Content["then"] != again {
			return refusal(given), err
		}
		folder, yes := a.watched(ctx)
		if e := pendingCallOf(ctx); e != nil && yes {
			e.moved.Store(true)
			return nil, errMoved
		}
		text = broken("`pillion watch` does not run in " + fault.Quote(folder) + " yet.")
	}
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

// Prompt is tools.Human. Each line is marked as the agent's: what Pillion itself says has no mark.
func (a *asker) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	if !a.canAsk() {
		return "", fault.New(fault.ApprovalUnavailable, "nobody can be asked here").WithHint("%s", openAnEditor)
	}
	leave, err := a.turn.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	form := newForm()
	titles := make([]string, len(actions))
	for i, action := range actions {
		titles[i] = fault.Escape(action)
	}
	form.choice("action", "Answer", "", actions, titles)
	text := fault.Quote(by.Name) + " asks, in its own words:\n> " + strings.ReplaceAll(fault.Escape(message), "\n", "\n> ")
	given, err := a.show(ctx, "question", clientOf(clientName(a.client)).screen.pages(text), form)
	if err != nil {
		return "", fault.New(fault.ApprovalUnavailable, "%s", cannotAsk(err)).WithHint("%s", openAnEditor)
	}
	if action, ok := given.Content["action"].(string); ok && given.Action == "accept" {
		return action, nil
	}
	return "cancel", nil
}

var errDeclined = errors.New("the agent's program declined before anybody could read the request")

func cannotAsk(err error) string {
	if errors.Is(err, errDeclined) {
		return err.Error()
	}
	return fmt.Sprintf("the agent cannot ask: %v", err)
}

// elicit shows a form. An end that nobody could have caused by reading is an error. It needs
// the turn.
func (a *asker) elicit(ctx context.Context, message string, f *form) (*sdk.ElicitResult, error) {
	params := &sdk.ElicitParams{Message: message, RequestedSchema: f}
	asked, show := a.now(), a.client.Elicit
	if e := pendingCallOf(ctx); e != nil && e.asks() {
		show = e.ask
	}
	given, err := show(ctx, params)
	if err == nil && given.Action != "accept" && a.now().Sub(asked) < readable {
		return nil, errDeclined
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
	Default     string   `json:"default,omitempty"`
}

func newForm() *form { return &form{Type: "object", Properties: map[string]field{}} }

func (f *form) choice(name, title, description string, ids, titles []string) {
	f.Properties[name] = field{Type: "string", Title: title, Description: description, Enum: ids, EnumNames: titles}
	f.Required = append(f.Required, name)
}

// preset has a choice made that the user can change.
func (f *form) preset(name, id string) {
	chosen := f.Properties[name]
	chosen.Default = id
	f.Properties[name] = chosen
}

// head puts something before the titles.
func (f *form) head(text string) {
	for name, field := range f.Properties {
		field.Title = text + ": " + field.Title
		f.Properties[name] = field
	}
}

func (f *form) text(name, title, description string) {
	f.Properties[name] = field{Type: "string", Title: title, Description: description}
}
