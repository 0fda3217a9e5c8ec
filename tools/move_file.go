package tools

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/workspace/change"
)

var _ = define(NewEdit(Spec{
	Name:  "move_file",
	Title: "Move file",
	Description: "Moves or renames a file, a symbolic link or a folder with all that is in it. Folders that are missing above the new place are made. " +
		"to is the new name itself, not the folder to put it in. Nothing is replaced unless overwrite says so, and never a folder.",
	Destructive: true,
	Success:     true,
}, planMoveFile))

type moveFileArgs struct {
	From      string `json:"from" jsonschema:"the file or folder, relative to the workspace folder; of a symbolic link the link itself moves"`
	To        string `json:"to" jsonschema:"its new name, relative to the workspace folder"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace a file that has the new name; default false"`
}

type moveFileResult struct {
	From      string           `json:"from"`
	To        string           `json:"to"`
	Operation change.Operation `json:"operation"`
	Entries   *int             `json:"entries,omitempty"`
	Backup    string           `json:"backup_path,omitempty"`
}

func planMoveFile(_ context.Context, in Input, args moveFileArgs) (*Edits, error) {
	from, err := in.Snapshot.Workspace().ResolveEntry(args.From)
	if err != nil {
		return nil, err
	}
	to, err := in.Snapshot.Workspace().ResolveEntry(args.To)
	if err != nil {
		return nil, err
	}
	if err := checkNotGits(from, to); err != nil {
		return nil, err
	}
	c, err := change.NewMove(in.Snapshot, from, to, args.Overwrite)
	if err != nil {
		return nil, err
	}
	a, b := fault.Quote(from.String()), fault.Quote(to.String())
	title := fmt.Sprintf("Move %s to %s", a, b)
	return treeEdits(in, c, title, func(o change.Outcome) *Answer {
		text := fmt.Sprintf("Moved %s to %s.", a, b)
		switch {
		case o.Operation == change.Unchanged:
			text = fmt.Sprintf("%s and %s are the same place; nothing was moved.", a, b)
		case c.IsDir():
			text = fmt.Sprintf("Moved the folder %s with %s to %s.", a, count(c.Entries, "file"), b)
		}
		return &Answer{Result: moveFileResult{from.String(), to.String(), o.Operation, folderEntries(c), o.Backup}, Text: text + backupNote(o.Backup) + unsavedNote(c), Summary: title}
	}), nil
}
