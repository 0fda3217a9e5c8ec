package agent

import (
	"cmp"
	"context"

	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

var _ = tools.Define(tools.NewSession(tools.Spec{
	Name:        "todo_write",
	Title:       "Write to-do list",
	Description: "Replaces your to-do list, which the user sees. Give the whole list each time, at most one item in_progress.",
	Idempotent:  true,
	Results:     []any{todoResult{}},
}, planTodoWrite))

type todoWriteArgs struct {
	Todos []todoArg `json:"todos"`
}

type todoArg struct {
	ID       string         `json:"id"`
	Content  string         `json:"content"`
	Status   string         `json:"status" jsonschema:"pending, in_progress or completed"`
	Priority string         `json:"priority,omitempty" jsonschema:"high, medium or low" default:"\"medium\""`
	Extra    map[string]any `json:"extra,omitempty"`
}

func planTodoWrite(_ context.Context, in tools.Input, args todoWriteArgs) (*tools.Action, error) {
	list := make([]session.Todo, 0, len(args.Todos))
	for _, t := range args.Todos {
		t.Priority = cmp.Or(t.Priority, session.TodoMedium)
		list = append(list, session.Todo(t))
	}
	if err := session.CheckTodos(list); err != nil {
		return nil, err
	}
	return &tools.Action{
		Title:   "Write to-do list",
		Preview: approval.Preview{Kind: "text", Markdown: todoText(list)},
		Run: func(context.Context, tools.Effects) (*tools.Answer, error) {
			if err := in.Session.SetTodos(list); err != nil {
				return nil, err
			}
			return todoAnswer(in.Session), nil
		},
	}, nil
}
