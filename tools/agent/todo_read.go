package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

var _ = tools.Define(tools.NewSession(tools.Spec{
	Name:        "todo_read",
	Title:       "Read to-do list",
	Description: "Lists your to-dos.",
	Idempotent:  true,
	Results:     []any{todoResult{}},
}, planTodoRead))

type todoReadArgs struct{}

// todoResult is that of both tools.
type todoResult struct {
	SessionID  string         `json:"session_id"`
	Items      []session.Todo `json:"items"`
	Count      int            `json:"count"`
	InProgress *session.Todo  `json:"in_progress"` // null: none is
}

func planTodoRead(_ context.Context, in tools.Input, _ todoReadArgs) (*tools.Action, error) {
	return &tools.Action{
		Title:   "Read to-do list",
		Preview: approval.Preview{Kind: "text", Markdown: "The agent wants to read its to-do list."},
		Run:     func(context.Context, tools.Effects) (*tools.Answer, error) { return todoAnswer(in.Session), nil },
	}, nil
}

func todoAnswer(s *session.Session) *tools.Answer {
	r := todoResult{SessionID: s.ID(), Items: s.Todos()}
	if r.Items == nil {
		r.Items = []session.Todo{}
	}
	r.Count = len(r.Items)
	if at := slices.IndexFunc(r.Items, func(t session.Todo) bool { return t.Status == session.TodoInProgress }); at >= 0 {
		r.InProgress = &r.Items[at]
	}
	return &tools.Answer{Result: r, Text: todoText(r.Items), Summary: session.TodoProgress(r.Items)}
}

// todoText is a list as a model reads it.
func todoText(list []session.Todo) string {
	if len(list) == 0 {
		return "the to-do list is empty\n"
	}
	var out strings.Builder
	for _, t := range list {
		fmt.Fprintf(&out, "%s %s: %s", t.Mark(), fault.Line(t.ID), fault.Line(t.Content))
		if t.Priority != session.TodoMedium {
			out.WriteString(" (" + t.Priority + ")")
		}
		out.WriteByte('\n')
	}
	return out.String()
}
