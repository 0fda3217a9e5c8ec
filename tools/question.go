package tools

import (
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/diff"
)

// Request is the question to the human about the plan as it stands.
func (p *pending) Request() approval.Request {
	agent := p.call.Session.Agent()
	return approval.Request{
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
}

func (p *pending) title() string {
	switch plan := p.plan.(type) {
	case *Edits:
		return plan.Title
	case *Action:
		return plan.Title
	case *Answer:
		if len(plan.Reads) > 0 {
			return "Read " + fault.Quote(plan.Reads[0].String())
		}
	}
	return p.tool.Title
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
	return fmt.Sprintf("Changes %s: %s added, %s removed.", count(len(e.Set.Files), "file"), count(added, "line"), count(deleted, "line"))
}

func (p *pending) reasons() []string {
	out := slices.Clone(p.decision.Reasons)
	switch plan := p.plan.(type) {
	case *Edits:
		out = append(out, plan.Reasons...)
	case *Action:
		out = append(out, plan.Reasons...)
	}
	if p.call.RequiresApproval && len(out) == 0 {
		out = append(out, "the agent's gateway requires approval of every such call")
	}
	if out == nil {
		out = []string{}
	}
	return out
}

func (p *pending) preview() approval.Preview {
	switch plan := p.plan.(type) {
	case *Edits:
		return approval.Preview{Kind: "diff", Files: plan.Set.Preview()}
	case *Action:
		return p.commandPreview(plan)
	}
	return approval.Preview{Kind: "text", Markdown: p.readPreview(), Deed: readDeed(p.plan.touches())}
}

// readDeed completes "the agent wants to"; empty where nothing is read.
func readDeed(reads []touch) string {
	switch len(reads) {
	case 0:
		return ""
	case 1:
		return "read " + fault.Quote(reads[0].path.String())
	}
	return "read " + count(len(reads), "file")
}

func (p *pending) readPreview() string {
	reads := p.plan.touches()
	if len(reads) == 0 {
		return fmt.Sprintf("The agent wants to use %s with these arguments:\n\n    %s\n", p.tool.Name, fault.Escape(string(p.call.Arguments)))
	}
	var out strings.Builder
	out.WriteString("The agent wants to read:\n")
	for _, t := range reads {
		out.WriteString("\n- `" + fault.Quote(t.path.String()) + "`")
	}
	return out.String()
}

// choices are the decisions on offer, the refusing one first.
func (p *pending) choices() []approval.Choice {
	out := []approval.Choice{
		{ID: approval.RejectID, Title: "Reject", Scope: approval.Once},
		{ID: approval.ApproveID, Title: "Approve", Scope: approval.Once},
	}
	for _, o := range p.decision.Offers {
		out = append(out, approval.Choice{ID: o.ID, Title: o.Title, Scope: approval.Scope(o.Scope), Rule: o.Rule.String()})
	}
	return out
}
