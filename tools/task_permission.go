package tools

import (
	"context"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// task_permission is how a sub-agent asks the user for what it does by itself, with a tool
// of its own. Pillion does nothing but ask: what it shows is what the sub-agent says.
var _ = definePart(NewExec(Spec{
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

func planTaskPermission(_ context.Context, in Input, args taskPermissionArgs) (*Action, error) {
	if n := utf8.RuneCountInString(args.Title + args.Command + args.Details); n > maxObjective {
		return nil, invalid("the permission request has more than %s characters, which nobody can judge", grouped(maxObjective))
	}
	var s sheet
	s.Deed, s.Question = "use a tool of its own: "+fault.Clip(firstLine(args.Title), 100), "Allow the sub-agent's own tool?"
	s.warn("claim", "Not checked", "the sub-agent does this itself; this is what it says")
	s.fact("kind", "Kind", args.Kind)
	s.fact("title", "Says", lineList(args.Title)...)
	s.fact("command", "Command", lineList(args.Command)...)
	s.fact("folder", "Folder", args.Cwd)
	s.fact("details", "Details", lineList(args.Details)...)
	a := &Action{
		Title:   "Its own tool: " + fault.Escape(fault.Clip(firstLine(args.Title), 60)),
		Preview: s.preview(),
		Run: func(context.Context, Effects) (*Answer, error) {
			return &Answer{Result: taskPermissionResult{true}, Text: "allowed", Summary: "allowed"}, nil
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
