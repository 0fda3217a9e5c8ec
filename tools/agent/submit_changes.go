package agent

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/workspace/change"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "submit_changes",
	Title:       "Submit changes",
	Description: "In mode draft: shows the user all that you have changed in the draft, to apply it to the workspace. Call it when your work is done.",
	Results:     []any{tools.Submitted{}},
}, planSubmitChanges))

type submitChangesArgs struct {
	Summary string `json:"summary,omitempty" jsonschema:"what was done and why, for the user"`
}

func planSubmitChanges(ctx context.Context, in tools.Input, args submitChangesArgs) (*tools.Edits, error) {
	switch {
	case len([]rune(args.Summary)) > tools.MaxMessage:
		return nil, fault.Invalid("summary has more than %d characters; leave the details out", tools.MaxMessage)
	}
	d, err := in.Draft(ctx)
	if err != nil {
		return nil, err
	}
	if in.Session.Mode() != policy.Draft && !d.Exists {
		return nil, fault.Invalid("this session has no draft: what it changes is in the workspace already")
	}
	e := &tools.Edits{Set: d.Set, Draft: &d, Message: strings.TrimSpace(args.Summary), AlwaysAsk: true, Several: true}
	e.Title = fmt.Sprintf("Apply a draft of %s", tools.Count(len(d.Set.Files)+len(d.Set.Tree)+len(d.Set.Restores), "file"))
	for _, left := range d.Left {
		e.Because("left", "%s stays in the draft: %s", fault.Quote(left.Path), left.Reason)
	}
	e.Learns = func(change.File) bool { return false }
	e.Answer = func(outcomes []change.Outcome) *tools.Answer { return d.Answer(outcomes) }
	return e, tools.CheckAllShown(d.Set, args.Summary)
}
