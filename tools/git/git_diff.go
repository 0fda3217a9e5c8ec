package git

import (
	"context"
	"fmt"
	"path/filepath"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/git"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "git.diff",
	Title:       "Git diff",
	Description: "Shows uncommitted changes in git's format: work tree against index, or index against HEAD (staged), or against a commit (base).",
	Success:     true,
	Results:     []any{gitDiffResult{}},
}, planGitDiff))

type gitDiffArgs struct {
	Path         string `json:"path,omitempty"`
	Staged       bool   `json:"staged,omitempty"`
	Base         string `json:"base,omitempty" jsonschema:"commit, branch or tag"`
	ContextLines *int   `json:"context_lines,omitempty" minimum:"0" maximum:"1000" default:"3"`
}

type gitDiffResult struct {
	Diff         string `json:"diff"`
	FilesChanged int    `json:"files_changed"`
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
}

func planGitDiff(ctx context.Context, in tools.Input, args gitDiffArgs) (*tools.Answer, error) {
	contextLines := 3
	if args.ContextLines != nil {
		contextLines = *args.ContextLines
	}
	p, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	defer in.Files.Urgent()()
	o := git.DiffOptions{Dir: p.Abs(), Staged: args.Staged, Base: args.Base, Context: contextLines, MaxBytes: in.Limits.DiffBytes}
	got, err := in.Git.Diff(ctx, p.RootDir(), o)
	if err != nil {
		return nil, err
	}
	text := got.Diff
	if text == "" {
		text = "no changes"
	}
	return &tools.Answer{
		Result:  gitDiffResult{got.Diff, got.FilesChanged, got.Additions, got.Deletions},
		Text:    text,
		Rest:    "give path, a file or folder, for a part of the diff",
		Summary: fmt.Sprintf("%s, +%d −%d", tools.Count(got.FilesChanged, "file"), got.Additions, got.Deletions),
		Display: &tools.Display{Kind: "markdown", Text: fmt.Sprintf("```diff\n%s\n```", fault.Escape(got.Diff))},
		Reads:   changedPaths(p, got), Tracked: true,
		Whole: func() (string, error) {
			o.Context, o.MaxBytes = allLines, mostWhole
			got, err := in.Git.Diff(ctx, p.RootDir(), o)
			return got.Diff, err
		},
	}, nil
}

// For the whole of the files that a difference is in.
const (
	allLines  = 100_000_000
	mostWhole = 64 << 20
)

// changedPaths are the files whose content the diff shows, for policy, renamed
// ones by both names. The diff names them from the top of the repository, which
// may lie above the workspace folder or below it.
func changedPaths(p workspace.Path, got git.DiffResult) []workspace.Path {
	var out []workspace.Path
	for _, f := range got.Files {
		for _, name := range []string{f.Path, f.OldPath} {
			rel, err := filepath.Rel(p.Top().Abs(), filepath.Join(got.Top, filepath.FromSlash(name)))
			if name != "" && err == nil && filepath.IsLocal(rel) {
				out = append(out, p.Top().Join(filepath.ToSlash(rel)))
			}
		}
	}
	return out
}
