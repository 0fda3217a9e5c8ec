package tools

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/workspace/patch"
)

var _ = define(NewEdit(Spec{
	Name:        "apply_patch",
	Title:       "Apply patch",
	Description: "Applies a patch to one or more files: a unified or git diff, or the *** Begin Patch form. It can create, delete, rename, copy and chmod files. All of it is applied or nothing; context must match, line numbers may be off. Returns the diff.",
	Destructive: true,
	Success:     true,
}, planApplyPatch))

type applyPatchArgs struct {
	Diff   string `json:"diff,omitempty" jsonschema:"paths are relative to the workspace"`
	Patch  string `json:"patch,omitempty" jsonschema:"the same as diff"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"check only, change nothing"`
	Clean  bool   `json:"require_clean,omitempty" jsonschema:"fail where git has uncommitted changes"`
}

type applyPatchResult struct {
	Applied       bool          `json:"applied"`
	DryRun        bool          `json:"dry_run,omitempty"`
	FilesModified []string      `json:"files_modified"`
	Results       []patchedFile `json:"results"`
	Diff          string        `json:"diff"`
}

// patchedFile is what becomes of one file of a patch.
type patchedFile struct {
	Path         string        `json:"path"`
	From         string        `json:"from,omitempty"` // of a rename or a copy
	Operation    string        `json:"operation"`
	HunksApplied int           `json:"hunks_applied"`
	Offset       int           `json:"offset"` // the largest of its hunks
	Additions    int           `json:"additions"`
	Deletions    int           `json:"deletions"`
	Mode         string        `json:"mode,omitempty"`   // the one that it gets, if that is another
	Binary       bool          `json:"binary,omitempty"` // its bytes are changed
	Hunks        []patchedHunk `json:"hunks,omitempty"`  // those that are not where they should be, or not as they should
	Version      string        `json:"version,omitempty"`
	Saved        *bool         `json:"saved,omitempty"`
	Formatted    bool          `json:"formatted,omitempty"`
	Error        *fault.Error  `json:"error,omitempty"`
}

type patchedHunk struct {
	Hunk     int    `json:"hunk"` // from 1, in its file
	Line     int    `json:"line"` // where it is made, in the file as it was
	Offset   int    `json:"offset"`
	Leniency string `json:"leniency,omitempty"`
}

func planApplyPatch(ctx context.Context, in Input, args applyPatchArgs) (*Edits, error) {
	text, err := args.text()
	if err != nil {
		return nil, err
	}
	if size := int64(len(text)); size > in.Limits.DiffBytes {
		return nil, fault.New(fault.FileTooLarge, "the patch has %d bytes, over the limit of %d", size, in.Limits.DiffBytes).
			With("size", size).With("limit", in.Limits.DiffBytes).WithHint("apply it in parts")
	}
	files, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(files) > mostFiles {
		return nil, fault.New(fault.FileTooLarge, "the patch is of %d files, over the limit of %d", len(files), mostFiles).WithHint("apply it in parts")
	}
	p := newPatching(in, files)
	for _, f := range files {
		if err := p.apply(ctx, f); err != nil {
			return nil, err
		}
	}
	if args.Clean || in.Limits.CleanPatches {
		if err := p.checkClean(ctx, args.Clean); err != nil {
			return nil, err
		}
	}
	if p.failed > 0 {
		return onlyAnswer(p.refused(args.DryRun)), nil
	}
	e, err := p.edits(text)
	if err != nil {
		return nil, err
	}
	if args.DryRun {
		return onlyAnswer(p.dryRun(e)), nil
	}
	return e, nil
}

func (a applyPatchArgs) text() (string, error) {
	switch {
	case a.Diff != "" && a.Patch != "":
		return "", invalid("give either diff or patch; they are the same argument")
	case a.Diff == "" && a.Patch == "":
		return "", invalid("argument diff is missing: it is the patch")
	}
	return a.Diff + a.Patch, nil
}

var modeTitles = map[string]string{modeProgram: ", and make it executable", modeFile: ", and make it no longer executable"}

// title heads the dialog.
func (p *patching) title() string {
	if len(p.results) == 1 {
		return "Apply a patch to " + fault.Quote(p.results[0].Path) + modeTitles[p.results[0].Mode]
	}
	return fmt.Sprintf("Apply a patch to %s", count(len(p.results), "file"))
}
