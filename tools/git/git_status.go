package git

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace/git"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "git.status",
	Title:       "Git status",
	Description: "Shows the branch, its upstream, and staged, changed, untracked and conflicting files.",
	Success:     true,
	Results:     []any{gitStatusResult{}},
}, planGitStatus))

type gitStatusArgs struct {
	Path string `json:"path,omitempty"`
}

type gitStatusResult struct {
	Branch       string          `json:"branch"`
	Commit       string          `json:"commit"`
	Detached     bool            `json:"detached"`
	Upstream     string          `json:"upstream"`
	UpstreamGone bool            `json:"upstream_gone,omitempty"`
	Ahead        int             `json:"ahead"`
	Behind       int             `json:"behind"`
	Clean        bool            `json:"clean"`
	Files        []gitFileStatus `json:"files"`
	Truncated    bool            `json:"truncated,omitempty"`
	Total        int             `json:"total,omitempty"`
}

type gitFileStatus struct {
	Path        string    `json:"path"`
	Staged      git.State `json:"staged"`
	Worktree    git.State `json:"worktree"`
	RenamedFrom string    `json:"renamed_from,omitempty"`
	Conflict    string    `json:"conflict,omitempty"`
	Submodule   string    `json:"submodule,omitempty"`
	Filtered    bool      `json:"filtered,omitempty"` // it may be unchanged: a filter that is not run would say
}

// mostGitFiles is how many files an answer names: nobody reads more.
const mostGitFiles = 10_000

func planGitStatus(ctx context.Context, in tools.Input, args gitStatusArgs) (*tools.Answer, error) {
	p, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	defer in.Files.Urgent()()
	got, err := in.Git.Status(ctx, p.RootDir(), git.StatusOptions{Dir: p.Abs()})
	if err != nil {
		return nil, err
	}
	result := gitStatusResult{
		Branch: got.Branch, Commit: got.Commit, Detached: got.Detached,
		Upstream: got.Upstream, UpstreamGone: got.UpstreamGone, Ahead: got.Ahead, Behind: got.Behind,
		Clean: len(got.Files) == 0, Files: []gitFileStatus{},
	}
	name := tools.WorkspaceNames(p, got.Top)
	for _, f := range got.Files[:min(len(got.Files), mostGitFiles)] {
		one := gitFileStatus{Path: name(f.Path), Staged: f.Staged, Worktree: f.Worktree, Conflict: f.Conflict, Submodule: f.Submodule, Filtered: f.Filtered}
		if f.RenamedFrom != "" {
			one.RenamedFrom = name(f.RenamedFrom)
		}
		result.Files = append(result.Files, one)
	}
	if len(got.Files) > mostGitFiles {
		result.Truncated, result.Total = true, len(got.Files)
	}
	return &tools.Answer{
		Result:  result,
		Text:    result.text(),
		Rest:    "give path, a folder, for a part of it",
		Summary: result.summary(),
		Display: &tools.Display{Kind: "markdown", Text: fmt.Sprintf("```\n%s\n```", fault.Escape(result.text()))},
	}, nil
}

func (r gitStatusResult) summary() string {
	where := r.Branch
	if r.Detached {
		where = "detached at " + r.Commit[:min(len(r.Commit), 8)]
	}
	if r.Clean {
		return fault.Escape(where) + ", clean"
	}
	return fault.Escape(where) + ", " + tools.Count(max(r.Total, len(r.Files)), "file")
}

// text is what git status -s -b shows, in words.
func (r gitStatusResult) text() string {
	var out strings.Builder
	r.writeBranch(&out)
	if r.Clean {
		out.WriteString("nothing is changed, nothing is untracked\n")
	}
	for _, f := range r.Files {
		f.write(&out)
	}
	if r.Truncated {
		fmt.Fprintf(&out, "and %d more: give a path\n", r.Total-len(r.Files))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (r gitStatusResult) writeBranch(out *strings.Builder) {
	if r.Detached {
		fmt.Fprintf(out, "detached at %s", r.Commit)
	} else {
		fmt.Fprintf(out, "branch %s", fault.Quote(r.Branch))
	}
	if r.Commit == "" {
		out.WriteString(", no commit yet")
	}
	switch {
	case r.UpstreamGone:
		fmt.Fprintf(out, ", follows %s, which is gone", fault.Quote(r.Upstream))
	case r.Upstream != "":
		fmt.Fprintf(out, ", %d ahead of and %d behind %s", r.Ahead, r.Behind, fault.Quote(r.Upstream))
	}
	out.WriteString("\n")
}

func (f gitFileStatus) write(out *strings.Builder) {
	out.WriteString(fault.Quote(f.Path) + ":")
	switch {
	case f.Conflict != "":
		fmt.Fprintf(out, " conflict (%s)", strings.ReplaceAll(f.Conflict, "_", " "))
	case f.Worktree == git.Untracked:
		out.WriteString(" untracked")
	default:
		sep := " "
		if f.Staged != "" {
			out.WriteString(sep + "staged " + words(f.Staged))
			sep = ", "
		}
		if f.Worktree != "" {
			out.WriteString(sep + words(f.Worktree))
		}
	}
	if f.RenamedFrom != "" {
		out.WriteString(" from " + fault.Quote(f.RenamedFrom))
	}
	if f.Filtered {
		out.WriteString(" (or unchanged: a filter converts it, which is not run)")
	}
	if f.Submodule != "" {
		fmt.Fprintf(out, " (submodule: %s)", f.Submodule)
	}
	out.WriteString("\n")
}

func words(s git.State) string { return strings.ReplaceAll(string(s), "_", " ") }
