package file

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace/change"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "delete_file",
	Title:       "Delete file",
	Description: "Deletes a file, symbolic link or folder. The user can restore it.",
	Destructive: true,
	Success:     true,
	Results:     []any{deleteFileResult{}},
}, planDeleteFile))

type deleteFileArgs struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"needed for a folder that is not empty"`
}

type deleteFileResult struct {
	Path      string           `json:"path"`
	Operation change.Operation `json:"operation"`
	Entries   *int             `json:"entries,omitempty"`
	Backup    string           `json:"backup_path,omitempty"`
}

func planDeleteFile(_ context.Context, in tools.Input, args deleteFileArgs) (*tools.Edits, error) {
	p, err := in.Snapshot.Workspace().ResolveEntry(args.Path)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(p); err != nil {
		return nil, err
	}
	c, err := change.NewDelete(in.Snapshot, p, args.Recursive)
	if err != nil {
		return nil, err
	}
	if err := checkKnown(in.Session, c); err != nil {
		return nil, err
	}
	name := fault.Quote(p.String())
	what := name
	switch {
	case c.IsDir() && len(c.Was.Nodes) == 1:
		what = "the empty folder " + name
	case c.IsDir():
		what = fmt.Sprintf("the folder %s with %s", name, tools.Count(c.Entries, "file"))
	}
	return treeEdits(in, c, "Delete "+what, func(o change.Outcome) *tools.Answer {
		return &tools.Answer{Result: deleteFileResult{p.String(), o.Operation, folderEntries(c), o.Backup}, Text: "Deleted " + what + "." + backupNote(o.Backup) + unsavedNote(c), Summary: "deleted " + name}
	}), nil
}

// unsavedNote tells the agent of texts that the user still has.
func unsavedNote(c change.TreeChange) string {
	switch n := len(c.Unsaved()); {
	case n > 0 && !c.IsDir():
		return " The user has unsaved changes in it: they stay in the editor."
	case n > 0:
		return fmt.Sprintf(" The user has unsaved changes in %s of it: they stay in the editor.", tools.Count(n, "file"))
	}
	return ""
}
