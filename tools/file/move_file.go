package file

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace/change"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "move_file",
	Title:       "Move file",
	Description: "Moves or renames a file or folder; creates parents.",
	Destructive: true,
	Success:     true,
	Results:     []any{moveFileResult{}},
}, planMoveFile))

type moveFileArgs struct {
	From      string `json:"from"`
	To        string `json:"to" jsonschema:"the new path itself, not the folder to put it in"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file"`
}

type moveFileResult struct {
	From      string           `json:"from"`
	To        string           `json:"to"`
	Operation change.Operation `json:"operation"`
	Entries   *int             `json:"entries,omitempty"`
	Backup    string           `json:"backup_path,omitempty"`
}

func planMoveFile(_ context.Context, in tools.Input, args moveFileArgs) (*tools.Edits, error) {
	from, err := in.Snapshot.Workspace().ResolveEntry(args.From)
	if err != nil {
		return nil, err
	}
	to, err := in.Snapshot.Workspace().ResolveEntry(args.To)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(from, to); err != nil {
		return nil, err
	}
	c, err := change.NewMove(in.Snapshot, from, to, args.Overwrite)
	if err != nil {
		return nil, err
	}
	a, b := fault.Quote(from.String()), fault.Quote(to.String())
	title := fmt.Sprintf("Move %s to %s", a, b)
	return treeEdits(in, c, title, func(o change.Outcome) *tools.Answer {
		text := fmt.Sprintf("Moved %s to %s.", a, b)
		switch {
		case o.Operation == change.Unchanged:
			text = fmt.Sprintf("%s and %s are the same; nothing was moved.", a, b)
		case c.IsDir():
			text = fmt.Sprintf("Moved the folder %s with %s to %s.", a, tools.Count(c.Entries, "file"), b)
		}
		return &tools.Answer{Result: moveFileResult{from.String(), to.String(), o.Operation, folderEntries(c), o.Backup}, Text: text + backupNote(o.Backup) + unsavedNote(c), Summary: title}
	}), nil
}
