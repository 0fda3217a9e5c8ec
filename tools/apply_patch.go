package tools

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools/patching"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

var _ = define(NewEdit(Spec{
	Name:        "apply_patch",
	Title:       "Apply patch",
	Description: "Applies a patch to one or more files: a unified or git diff, or the *** Begin Patch form. It can create, delete, rename, copy and chmod files. All of it is applied or nothing; context must match, line numbers may be off.",
	Destructive: true,
	Success:     true,
	Results:     []any{applyPatchResult{}},
	Restate: func(e *Edits) map[string]any {
		made := e.Answer(proposedOutcomes(e.Set)).Result.(applyPatchResult)
		return map[string]any{"diff": made.Diff, "patch": nil}
	},
}, planApplyPatch))

type applyPatchArgs struct {
	Diff   string `json:"diff,omitempty" jsonschema:"paths are relative to the workspace"`
	Patch  string `json:"patch,omitempty" jsonschema:"the same as diff"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"check only"`
	Clean  bool   `json:"require_clean,omitempty" jsonschema:"fail where git has uncommitted changes"`
}

type applyPatchResult struct {
	Applied       bool                  `json:"applied"`
	DryRun        bool                  `json:"dry_run,omitempty"`
	FilesModified []string              `json:"files_modified"`
	Results       []patching.FileResult `json:"results"`
	Diff          string                `json:"diff"`
	DiffOmitted   bool                  `json:"diff_omitted,omitempty"`
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
	p, err := patching.Apply(ctx, in.patching(), files)
	if err != nil {
		return nil, err
	}
	if args.Clean || in.Limits.CleanPatches {
		if err := checkClean(ctx, in, p, args.Clean); err != nil {
			return nil, err
		}
	}
	if p.Failed > 0 {
		return onlyAnswer(refusedPatch(p, args.DryRun)), nil
	}
	e, err := patchEdits(in, p, text)
	if err != nil {
		return nil, err
	}
	if args.DryRun {
		return onlyAnswer(dryRun(p, e)), nil
	}
	return e, nil
}

// patching is what a patch is laid on in this call.
func (in Input) patching() patching.Input {
	return patching.Input{
		Snapshot: in.Snapshot, WriteBytes: in.Limits.WriteBytes, MakesDirs: !in.Limits.CodeLab,
		CheckPaths: checkNotGits, CheckReadable: in.readable,
		CheckName: func(name string) error {
			if in.Limits.CodeLab {
				return checkCodeLabPath(name)
			}
			return nil
		},
	}
}

// patchEdits is what is to be done to the workspace.
func patchEdits(in Input, p *patching.Patch, text string) (*Edits, error) {
	title := patchTitle(p.Results)
	set, reads, err := p.Set(title)
	if err != nil {
		return nil, err
	}
	if err := checkAllShown(set, text); err != nil {
		return nil, err
	}
	e := &Edits{Title: title, several: true, Set: set, Reads: reads}
	for _, f := range set.Files {
		if !f.Before.Exists {
			if err := checkFolder(f); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range p.Results {
		for _, h := range r.Hunks {
			if h.Leniency != "" {
				e.because("lenient", "hunk %d of %s fits except for %s", h.Hunk, fault.Quote(r.Path), h.Leniency)
			}
		}
	}
	for _, c := range set.Tree {
		if c.Operation == change.Delete {
			if err := checkKnown(in.Session, c); err != nil {
				return nil, err
			}
		}
		e.Reasons = append(e.Reasons, treeReasons(c)...)
	}
	e.learns = func(f change.File) bool { return !p.Moves(f.Target) && !f.IsBinary() && knew(in.Session, f.Before) }
	e.Answer = func(o []change.Outcome) *Answer { return patchAnswer(in, p, o) }
	return e, nil
}

// knew: the session knows the text that the patch was applied to, or there was none.
func knew(s *session.Session, f *document.File) bool {
	version, ok := seenVersion(s, f.Path)
	return !f.Exists || ok && version == f.Version
}

func (a applyPatchArgs) text() (string, error) {
	switch {
	case a.Diff != "" && a.Patch != "":
		return "", invalid("give diff or patch, not both; they are the same argument")
	case a.Diff == "" && a.Patch == "":
		return "", invalid("argument diff is missing: give the patch")
	}
	return a.Diff + a.Patch, nil
}

var modeTitles = map[string]string{patching.ModeProgram: ", and make it executable", patching.ModeFile: ", and make it no longer executable"}

// patchTitle heads the dialog.
func patchTitle(results []patching.FileResult) string {
	if len(results) == 1 {
		return "Apply a patch to " + fault.Quote(results[0].Path) + modeTitles[results[0].Mode]
	}
	return fmt.Sprintf("Apply a patch to %s", count(len(results), "file"))
}
