package agent

import (
	"context"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "submit_changes",
	Title:       "Submit changes",
	Description: "In mode draft: has the user review what you changed, to apply it. Call it when your work is done.",
	Results:     []any{tools.Submitted{}},
}, planSubmitChanges))

type submitChangesArgs struct {
	Summary string `json:"summary,omitempty" jsonschema:"for the user"`
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
	return d.Edits(args.Summary)
}
