package agent

import (
	"context"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
)

// task_permission is how a sub-agent asks the user for what it does by itself, with a tool
// of its own. Pillion does nothing but ask: what it shows is what the sub-agent says.
var _ = tools.Define(tools.NewExec(tools.Spec{
	Name:        "task_permission",
	Title:       "Sub-agent's own tool",
	Description: "The sub-agent does this itself, outside Pillion. What is shown is what it says it will do.",
	PartOf:      "task",
	Results:     []any{taskPermissionResult{}},
}, planTaskPermission))

type taskPermissionArgs struct {
	Title   string `json:"title"`
	Kind    string `json:"kind,omitempty"`    // as ACP has it: execute, edit, fetch, …
	Command string `json:"command,omitempty"` // the line that it says that it runs
	Cwd     string `json:"cwd,omitempty"`
	Details string `json:"details,omitempty"`
}

type taskPermissionResult struct {
	Allowed bool `json:"allowed"`
}

func planTaskPermission(_ context.Context, in tools.Input, args taskPermissionArgs) (*tools.Action, error) {
	if n := utf8.RuneCountInString(args.Title + args.Command + args.Details); n > maxObjective {
		return nil, fault.Invalid("the permission request has more than %s characters, which nobody can judge", tools.Grouped(maxObjective))
	}
	var s approval.Sheet
	s.Deed, s.Question = "use a tool of its own: "+fault.Clip(tools.FirstLine(args.Title), 100), "Allow the sub-agent's own tool?"
	s.Warn("claim", "Not checked", "the sub-agent does this itself; this is what it says")
	s.Fact("kind", "Kind", args.Kind)
	s.Fact("title", "Says", lineList(args.Title)...)
	s.Fact("command", "Command", lineList(args.Command)...)
	s.Fact("folder", "Folder", args.Cwd)
	s.Fact("details", "Details", lineList(args.Details)...)
	a := &tools.Action{
		Title:   "Its own tool: " + fault.Escape(fault.Clip(tools.FirstLine(args.Title), 60)),
		Preview: s.Shown(),
		Run: func(context.Context, tools.Effects) (*tools.Answer, error) {
			return &tools.Answer{Result: taskPermissionResult{true}, Text: "allowed", Summary: "allowed"}, nil
		},
	}
	if args.Command != "" {
		// Rules that restrict commands hold for it as well; none that allows one does.
		a.Command = &policy.Command{Line: args.Command, POSIX: true}
	}
	return a, nil
}

func lineList(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
