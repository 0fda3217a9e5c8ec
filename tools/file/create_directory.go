package file

import (
	"context"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace/change"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "create_directory",
	Title:       "Create folder",
	Description: "Creates a folder and its parents. write_file does so by itself.",
	Idempotent:  true,
	Success:     true,
	Results:     []any{createDirectoryResult{}},
}, planCreateDirectory))

type createDirectoryArgs struct {
	Path string `json:"path"`
}

type createDirectoryResult struct {
	Path      string           `json:"path"`
	Operation change.Operation `json:"operation"`
}

func planCreateDirectory(_ context.Context, in tools.Input, args createDirectoryArgs) (*tools.Edits, error) {
	p, err := in.Snapshot.Workspace().Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(p); err != nil {
		return nil, err
	}
	c, err := change.NewDirectory(in.Snapshot, p)
	if err != nil {
		return nil, err
	}
	name := fault.Quote(p.String())
	return treeEdits(in, c, "Create the folder "+name, func(o change.Outcome) *tools.Answer {
		text := "Created the folder " + name + "."
		if o.Operation == change.Unchanged {
			text = "The folder " + name + " already exists."
		}
		return &tools.Answer{Result: createDirectoryResult{p.String(), o.Operation}, Text: text, Summary: "created " + name}
	}), nil
}
