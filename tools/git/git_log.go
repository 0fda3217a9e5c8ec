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
	Name:        "git.log",
	Title:       "Git log",
	Description: "Lists commits with their messages, newest first. Use git.show for what one changed.",
	Success:     true,
	Results:     []any{gitLogResult{}},
}, planGitLog))

type gitLogArgs struct {
	Limit *int   `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
	Path  string `json:"path,omitempty" jsonschema:"only commits that changed it"`
	Ref   string `json:"ref,omitempty" jsonschema:"where to start; default HEAD"`
}

type gitLogResult struct {
	Commits []git.LogCommit `json:"commits"`
}

func planGitLog(ctx context.Context, in tools.Input, args gitLogArgs) (*tools.Answer, error) {
	limit := 10
	if args.Limit != nil {
		limit = *args.Limit
	}
	p, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	defer in.Files.Urgent()()
	commits, err := in.Git.Log(ctx, p.RootDir(), git.LogOptions{
		Dir: p.Abs(), Limited: args.Path != "", Ref: args.Ref, Limit: limit, MaxBytes: in.Limits.DiffBytes,
	})
	if err != nil {
		return nil, err
	}
	text := "no commits"
	if len(commits) > 0 {
		text = logText(commits)
	}
	return &tools.Answer{
		Result: gitLogResult{commits}, Text: text, Rest: "give a smaller limit, or path", Summary: tools.Count(len(commits), "commit"),
		Display: &tools.Display{Kind: "markdown", Text: fmt.Sprintf("```\n%s\n```", fault.Escape(text))},
	}, nil
}

// logText is commits as git log shows them.
func logText(commits []git.LogCommit) string {
	var out strings.Builder
	for i, c := range commits {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(commitText(c))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// commitText is a commit's head and message.
func commitText(c git.LogCommit) string {
	var out strings.Builder
	fmt.Fprintf(&out, "commit %s\n", c.Hash)
	if len(c.Parents) > 1 {
		fmt.Fprintf(&out, "Merge: %s\n", strings.Join(c.Parents, " "))
	}
	fmt.Fprintf(&out, "Author: %s <%s>\nDate:   %s\n\n", c.Author.Name, c.Author.Email, c.Date)
	message := c.Subject
	if c.Body != "" {
		message += "\n\n" + c.Body
	}
	for line := range strings.SplitSeq(message, "\n") {
		out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return out.String()
}
