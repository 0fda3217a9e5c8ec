package file

import (
	"context"
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/patching"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "apply_patch",
	Title:       "Apply patch",
	Description: "Applies a patch to one or more files: a unified or git diff, or the *** Begin Patch form. It can create, delete, rename, copy and chmod files. All of it is applied or nothing; context must match, line numbers may be off.",
	Destructive: true,
	Success:     true,
	Results:     []any{applyPatchResult{}},
	Restate: func(e *tools.Edits) map[string]any {
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

func planApplyPatch(ctx context.Context, in tools.Input, args applyPatchArgs) (*tools.Edits, error) {
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
	p, err := patching.Apply(ctx, patchingInput(in), files)
	if err != nil {
		return nil, err
	}
	if args.Clean || in.Limits.CleanPatches {
		if err := checkClean(ctx, in, p, args.Clean); err != nil {
			return nil, err
		}
	}
	if p.Failed > 0 {
		return tools.OnlyAnswer(refusedPatch(p, args.DryRun)), nil
	}
	e, err := patchEdits(in, p, text)
	if err != nil {
		return nil, err
	}
	if args.DryRun {
		return tools.OnlyAnswer(dryRun(p, e)), nil
	}
	return e, nil
}

// patchingInput is what a patch is laid on in this call.
func patchingInput(in tools.Input) patching.Input {
	return patching.Input{
		Snapshot: in.Snapshot, WriteBytes: in.Limits.WriteBytes, MakesDirs: !in.Limits.CodeLab,
		CheckPaths: tools.RefuseGits, CheckReadable: in.CheckReadable,
		CheckName: func(name string) error {
			if in.Limits.CodeLab {
				return tools.CheckCodeLabPath(name)
			}
			return nil
		},
	}
}

// patchEdits is what is to be done to the workspace.
func patchEdits(in tools.Input, p *patching.Patch, text string) (*tools.Edits, error) {
	title := patchTitle(p.Results)
	set, reads, err := p.Set(title)
	if err != nil {
		return nil, err
	}
	if err := tools.CheckAllShown(set, text); err != nil {
		return nil, err
	}
	e := &tools.Edits{Title: title, Several: true, Set: set, Reads: reads}
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
				e.Because("lenient", "hunk %d of %s fits except for %s", h.Hunk, fault.Quote(r.Path), h.Leniency)
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
	e.Learns = func(f change.File) bool { return !p.Moves(f.Target) && !f.IsBinary() && knew(in.Session, f.Before) }
	e.Answer = func(o []change.Outcome) *tools.Answer { return patchAnswer(in, p, o) }
	return e, nil
}

// knew: the session knows the text that the patch was applied to, or there was none.
func knew(s *session.Session, f *document.File) bool {
	version, ok := tools.SeenVersion(s, f.Path)
	return !f.Exists || ok && version == f.Version
}

func (a applyPatchArgs) text() (string, error) {
	switch {
	case a.Diff != "" && a.Patch != "":
		return "", fault.Invalid("give diff or patch, not both; they are the same argument")
	case a.Diff == "" && a.Patch == "":
		return "", fault.Invalid("argument diff is missing: give the patch")
	}
	return a.Diff + a.Patch, nil
}

var modeTitles = map[string]string{patching.ModeProgram: ", and make it executable", patching.ModeFile: ", and make it no longer executable"}

// patchTitle heads the dialog.
func patchTitle(results []patching.FileResult) string {
	if len(results) == 1 {
		return "Apply a patch to " + fault.Quote(results[0].Path) + modeTitles[results[0].Mode]
	}
	return fmt.Sprintf("Apply a patch to %s", tools.Count(len(results), "file"))
}
