package tools

import (
	"fmt"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/diff"
)

// Request is the question to the user about the plan as it stands.
func (p *pending) Request() approval.Request {
	// One after the other: to compare two large texts takes many times their memory.
	p.registry.composing.Lock()
	defer p.registry.composing.Unlock()
	agent := p.call.Session.Agent()
	request := approval.Request{
		CallID:      p.call.CallID,
		SessionID:   p.call.Session.ID(),
		Agent:       approval.Agent{Name: agent.Name, Via: agent.Via},
		Tool:        p.tool.Name,
		Title:       p.title(),
		Description: p.description(),
		Reasons:     p.reasons(),
		Arguments:   p.call.Arguments,
		Preview:     p.preview(),
		Decisions:   p.choices(),
		Digest:      p.digest,
	}
	return request.Compose()
}

func (p *pending) title() string {
	switch plan := p.plan.(type) {
	case *Edits:
		return plan.Title + leftOut(plan.Set)
	case *Action:
		return plan.Title
	case *Answer:
		switch {
		case len(plan.Reads) == 0:
		case p.cannotBeMade():
			return p.tool.Title + ": " + fault.Quote(plan.Reads[0].String())
		default:
			return "Read " + fault.Quote(plan.Reads[0].String())
		}
	}
	return p.tool.Title
}

// leftOut says how many files of a change the user did not take.
func leftOut(set change.Set) string {
	n := 0
	for _, f := range set.Files {
		if f.LeftOut {
			n++
		}
	}
	for _, c := range set.Tree {
		if c.LeftOut {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", n)
}

// sentence is what the call will do, of a request that was composed.
func (p *pending) sentence(r approval.Request) string {
	deed := r.Preview.Deed
	if _, looks := p.plan.(*Answer); looks || r.Preview.Kind == "text" && p.preview().Deed == "" {
		deed = ""
	}
	return approval.Sentence(deed, p.tool.Title, p.call.Arguments)
}

// description is a sentence on what this very call would do.
func (p *pending) description() string {
	switch plan := p.plan.(type) {
	case *Edits:
		return describeEdits(plan)
	case *Action:
		if plan.Description != "" {
			return plan.Description
		}
		if plan.Command != nil {
			return "Runs this command line with /bin/sh. Whatever it starts ends with it."
		}
	case *Answer:
		return "Shows the agent what these files hold."
	}
	return p.tool.Description
}

func describeEdits(e *Edits) string {
	if len(e.Set.Files) == 0 {
		return describeTree(e.Set.Tree)
	}
	added, deleted := 0, 0
	for _, f := range e.Set.Files {
		a, d := diff.Count(f.Hunks())
		added, deleted = added+a, deleted+d
	}
	return fmt.Sprintf("Changes %s: %s added, %s removed.", Count(len(e.Set.Files), "file"), Count(added, "line"), Count(deleted, "line"))
}

func (p *pending) reasons() []approval.Reason {
	out := []approval.Reason{}
	for _, r := range p.decision.Reasons {
		out = append(out, approval.Reason(r))
	}
	switch plan := p.plan.(type) {
	case *Edits:
		out = append(out, plan.Reasons...)
	case *Action:
		out = append(out, plan.Reasons...)
	}
	// That it always asks says least, and a line beside a diff shows the first reason alone. Of a review it says nothing.
	if at := slices.IndexFunc(out, func(r approval.Reason) bool { return r.Code == policy.ReasonAlways }); at >= 0 {
		general := out[at]
		if out = slices.Delete(out, at, at+1); p.edits() == nil || p.edits().Draft == nil {
			out = append(out, general)
		}
	}
	if p.call.RequiresApproval && len(out) == 0 {
		out = append(out, approval.Because("gateway", "the agent's gateway requires approval of every such call"))
	}
	return out
}

func reasonTexts(reasons []approval.Reason) []string {
	out := make([]string, 0, len(reasons))
	for _, r := range reasons {
		out = append(out, r.Text)
	}
	return out
}

// preview is what would happen; approval composes what is said of it.
func (p *pending) preview() approval.Preview {
	switch plan := p.plan.(type) {
	case *Edits:
		return approval.Preview{Kind: "diff", Files: approval.Files(plan.Set.Preview()), Draft: plan.Draft != nil, Message: plan.Message}
	case *Action:
		return p.commandPreview(plan)
	}
	return p.readPreview()
}

func (p *pending) readPreview() approval.Preview {
	out := approval.Preview{Kind: "text", Question: "Read this?"}
	var names []string
	for _, t := range p.plan.touches() {
		names = append(names, fault.Quote(t.path.String()))
	}
	switch len(names) {
	case 0:
		arguments := approval.NewFact("arguments", "Arguments", fault.Line(string(p.call.Arguments)))
		return approval.Preview{Kind: "text", Facts: []approval.Fact{arguments}}
	case 1:
		out.Deed = "read " + names[0]
	default:
		out.Deed = "read " + Count(len(names), "file")
	}
	out.Facts = []approval.Fact{approval.NewFact("files", "Files", names...)}
	return out
}

// choices are the decisions on offer, the refusing one first.
func (p *pending) choices() []approval.Choice {
	out := []approval.Choice{
		{ID: approval.RejectID, Title: "Reject", Scope: approval.Once},
		{ID: approval.ApproveID, Title: "Approve", Scope: approval.Once, Meaning: p.meansForSession()},
	}
	if e := p.edits(); e != nil && e.Draft != nil {
		out[0].Title, out[1].Title = "Leave", "Apply"
		out = append(out, approval.Choice{ID: DiscardID, Title: "Discard the Draft", Scope: approval.Once, Meaning: "nothing is applied, and all of it is gone"})
	}
	for _, o := range p.decision.Offers {
		out = append(out, approval.Choice{ID: o.ID, Title: o.Title, Scope: approval.Scope(o.Scope), Rule: o.Saves()})
	}
	return out
}

// meansForSession says of a yes that holds longer than this call for how long, "" where none does.
func (p *pending) meansForSession() string {
	keys := p.decision.OncePerSession
	one, several := "this file", "these files"
	if slices.ContainsFunc(p.decision.Reasons, func(r policy.Reason) bool { return r.Code == policy.ReasonNetwork }) {
		one, several = "this host", "these hosts"
	}
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return "for this session, without asking about " + one + " again"
	}
	return "for this session, without asking about " + several + " again"
}
