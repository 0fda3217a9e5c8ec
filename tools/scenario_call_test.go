package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pillion/tools"
	"pillion/tools/approval"
)

// call is one call of a scenario.
type call struct {
	tool             string
	arguments        json.RawMessage
	session          string
	timeout          time.Duration
	requiresApproval bool
	page             int
	text             bool   // report what the model reads as well
	halfDone         bool   // it fails, and what it did by then stays
	streams          bool   // content may come in chunks, which are reported
	decides          string // here or elsewhere: the caller hears what the user decides, and where the call is made
	answers          []answer
}

// answer is what the user does with one question.
type answer struct {
	approval.Answer
	nobody    bool   // there is no user
	choice    string // of a prompt
	review    *tools.ReviewAnswer
	meanwhile []string // what happens while the question is open
}

func (c *call) meanwhile() []string {
	var out []string
	for _, a := range c.answers {
		out = append(out, a.meanwhile...)
	}
	return out
}

// readCall reads a call section. The first line is the tool's name and its
// arguments, which may go on over further lines ($BASE is the folder around
// everything; $TIME is a quarter of a second, or as many times that as a command needs
// to do here, before its time is up, what the scenario says); then, a line each:
//
//	answer approve | reject REASON | cancel REASON | nobody
//	answer remember ID          approve, by the decision of that id
//	answer edit {PATH: TEXT}    approve with the user's own text
//	answer arguments {…}        approve with other arguments
//	answer choose LABEL         of prompt_user; empty: the dialog is dismissed
//	answer write WORDS          of prompt_user: in the user's own words
//	answer hunks [ID…]          approve these hunks
//	answer review {…}           of apply_patch_review: the result of patch/review; without, it is a prompt
//	meanwhile LINE              while the last question above is open: a line of a setup section
//	session NAME                whose call it is; main by default
//	timeout DURATION            the caller's own limit
//	requires approval           as a gateway says
//	page BYTES                  as agents over MCP get it
//	show text                   report what the model reads, too
//	half done          it fails, and what it did by then stays
//	takes chunks                with a progress token, for what is streamed
//	hears here | elsewhere      the caller hears decisions, and makes the call itself or not
func (w *world) readCall(text string) *call {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	c := &call{session: "main"}
	name, arguments, _ := strings.Cut(lines[0], " ")
	c.tool = name
	for _, line := range lines[1:] {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "answer":
			c.answers = append(c.answers, w.readAnswer(rest))
		case "meanwhile":
			last := &c.answers[len(c.answers)-1]
			last.meanwhile = append(last.meanwhile, rest)
		case "session":
			c.session = rest
		case "timeout":
			c.timeout, _ = time.ParseDuration(rest)
		case "requires":
			c.requiresApproval = true
		case "page":
			_, err := fmt.Sscan(rest, &c.page)
			w.must(err)
		case "show":
			c.text = true
		case "half":
			c.halfDone = true
		case "takes":
			c.streams = true
		case "hears":
			c.decides = rest
		default:
			arguments += "\n" + line
		}
	}
	if w.site != nil {
		arguments = strings.ReplaceAll(arguments, "$WEB", strings.TrimPrefix(w.site.URL, "http://"))
	}
	c.arguments = json.RawMessage(strings.ReplaceAll(arguments, "$BASE", w.base))
	return c
}

func (w *world) readAnswer(line string) answer {
	verb, rest, _ := strings.Cut(line, " ")
	a := answer{choice: rest}
	var err error
	switch verb {
	case "approve":
		a.Decision, a.DecisionID = approval.Approve, approval.ApproveID
	case "remember":
		a.Decision, a.DecisionID = approval.Approve, rest
	case "reject", "cancel":
		a.Decision, a.Feedback = approval.Decision(verb), rest
	case "edit":
		a.Decision = approval.Edit
		err = json.Unmarshal([]byte(rest), &a.After)
	case "arguments":
		a.Decision, a.ModifiedArguments = approval.Edit, json.RawMessage(rest)
	case "nobody":
		a.nobody = true
	case "choose":
	case "write":
		a.choice, a.Feedback = "", rest
	case "hunks":
		a.Decision, a.Selected = approval.Approve, strings.Fields(rest)
	case "review":
		a.review = &tools.ReviewAnswer{}
		err = json.Unmarshal([]byte(rest), a.review)
	default:
		w.t.Fatalf("no such answer: %s", line)
	}
	if err != nil {
		w.t.Fatalf("answer %s: %v", line, err)
	}
	return a
}

// human answers as the scenario says. It implements approval.Asker and tools.Human.
type human struct {
	do func(line string) // lets something happen

	next  []answer
	asked []string // what was put to it in this call, for the report
	// approve, if set, answers approvals.
	approve func(approval.Request) approval.Answer
	// review, if set, answers apply_patch_review.
	review func(tools.PatchReview) tools.ReviewAnswer
	extra  int // questions that the scenario has no answer for
}

func (h *human) take(c *call) { h.next, h.asked, h.extra = c.answers, nil, 0 }

func (h *human) done(t *testing.T) {
	if len(h.next) > 0 {
		t.Errorf("%d answers were not asked for", len(h.next))
	}
	if h.extra > 0 {
		t.Errorf("%d questions have no answer in the scenario", h.extra)
	}
}

func (h *human) answer() answer {
	if len(h.next) == 0 {
		h.extra++
		return answer{nobody: true}
	}
	a := h.next[0]
	h.next = h.next[1:]
	for _, line := range a.meanwhile {
		h.do(line)
	}
	return a
}

// Ask answers an approval.
func (h *human) Ask(_ context.Context, r approval.Request) (approval.Answer, error) {
	if h.approve != nil {
		return h.approve(r), nil
	}
	h.asked = append(h.asked, describe(r)...)
	a := h.answer()
	if a.nobody {
		return approval.Nobody{Why: "open the folder in an editor"}.Ask(context.Background(), r)
	}
	return a.Answer, nil
}

// Changed and Resolved are package approval's to test.
func (h *human) Changed(approval.Changed)          {}
func (h *human) Resolved(string, approval.Outcome) {}

// Prompt asks with buttons alone.
func (h *human) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	a, err := h.Listen(ctx, by, message, actions)
	return a.Action, err
}

// Listen answers prompt_user.
func (h *human) Listen(_ context.Context, _ approval.Agent, message string, actions []string) (tools.PromptAnswer, error) {
	h.asked = append(h.asked, fmt.Sprintf("prompted: %s %q", message, actions))
	a := h.answer()
	return tools.PromptAnswer{Action: a.choice, Feedback: a.Feedback}, nil
}

// ReviewPatch answers apply_patch_review, unless the scenario has an editor that shows
// no patches.
func (h *human) ReviewPatch(ctx context.Context, r tools.PatchReview) (tools.ReviewAnswer, error) {
	if h.review != nil {
		return h.review(r), nil
	}
	if len(h.next) > 0 && h.next[0].review == nil {
		return tools.ReviewPatchByPrompt(ctx, h, r)
	}
	h.asked = append(h.asked, "review: "+r.Message)
	for _, f := range r.Files {
		line := fmt.Sprintf("  shows %s %s +%d −%d", f.Operation, f.Path, f.Additions, f.Deletions)
		if f.From != "" {
			line += " from " + f.From
		}
		for _, words := range []string{f.Note, f.Whole} {
			if words != "" {
				line += ", " + words
			}
		}
		h.asked = append(h.asked, line)
		for _, hunk := range f.Hunks {
			h.asked = append(h.asked, fmt.Sprintf("    %s: %s %q", hunk.ID, hunk.Header, hunk.Lines))
		}
	}
	if a := h.answer(); a.review != nil {
		return *a.review, nil
	}
	return tools.ReviewAnswer{}, nil
}

func describe(r approval.Request) []string {
	out := []string{"asked: " + r.Title}
	for _, reason := range r.Reasons {
		out = append(out, "  because "+reason.Text)
	}
	out = append(out, describePreview(r.Preview)...)
	for _, d := range r.Decisions[2:] {
		out = append(out, fmt.Sprintf("  offers %s (%s): %s", d.Title, d.ID, d.Rule))
	}
	for i := range out {
		out[i] = loopback.ReplaceAllString(out[i], "$$WEB")
	}
	return out
}

// loopback is where scenarios have their pages.
var loopback = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func describePreview(p approval.Preview) []string {
	var out []string
	if p.Kind == "url" {
		out = append(out, "  shows "+p.URL)
	}
	for _, f := range p.Files {
		line := fmt.Sprintf("  shows %s %s +%d −%d", f.Operation, f.Path, f.Additions, f.Deletions)
		if f.To != "" {
			line += " to " + f.To
		}
		if f.Entries != nil {
			line += fmt.Sprintf(", %d files:\n     | %s", *f.Entries, strings.ReplaceAll(strings.TrimSpace(f.Diff), "\n", "\n     | "))
		}
		for _, words := range []string{f.Note, f.Whole} {
			if words != "" {
				line += ", " + words
			}
		}
		for _, state := range []struct {
			is   bool
			name string
		}{{f.OpenInEditor, "open"}, {f.Dirty, "unsaved"}, {f.Merged, "merged"}} {
			if state.is {
				line += ", " + state.name
			}
		}
		out = append(out, line)
	}
	if p.Kind == "command" {
		out = append(out, fmt.Sprintf("  runs %q in %s", p.Command, p.Cwd))
	}
	for _, part := range p.Parts {
		out = append(out, fmt.Sprintf("  of it %q: %s", part.Argv, part.Why))
	}
	for _, name := range p.Writes {
		out = append(out, "  writes "+name)
	}
	for _, f := range p.Facts {
		if f.Code == "links" {
			out = append(out, "  "+strings.Join(f.Values(), "\n  "))
		}
	}
	if p.Markdown != "" {
		out = append(out, "  says "+strings.ReplaceAll(p.Markdown, "\n", "\n     | "))
	}
	return out
}
