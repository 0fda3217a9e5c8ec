package agent

import (
	"context"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

var _ = tools.Define(tools.NewHuman(tools.Spec{
	Name:        "prompt_user",
	Title:       "Ask the user",
	Description: "Asks the user a question and returns the action they choose, or \"cancel\" with what they wrote instead.",
	Results:     []any{tools.PromptAnswer{}},
}, planPromptUser))

type promptUserArgs struct {
	Message string   `json:"message"`
	Actions []string `json:"actions" jsonschema:"1 to 8 short labels"`
}

func promptUser(ctx context.Context, h tools.Human, by approval.Agent, message string, actions []string) (tools.PromptAnswer, error) {
	if listener, ok := h.(tools.Listener); ok {
		return listener.Listen(ctx, by, message, actions)
	}
	action, err := h.Prompt(ctx, by, message, actions)
	return tools.PromptAnswer{Action: action}, err
}

func planPromptUser(_ context.Context, in tools.Input, args promptUserArgs) (*tools.Action, error) {
	if err := args.check(); err != nil {
		return nil, err
	}
	agent := in.Session.Agent()
	by := approval.Agent{Name: agent.Name, Via: agent.Via}
	return &tools.Action{
		Title:   "Ask the user",
		Preview: approval.Preview{Kind: "text", Markdown: fault.Escape(args.Message)},
		Run: func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			answer, err := promptUser(ctx, effects.Human, by, fault.Escape(args.Message), args.Actions)
			if err != nil {
				return nil, err
			}
			if slices.Contains(args.Actions, answer.Action) {
				answer.Feedback = ""
			} else {
				answer.Action = "cancel"
			}
			if answer.Feedback != "" {
				return &tools.Answer{Result: answer, Text: "The user chose none of the actions and wrote: " + answer.Feedback, Summary: "answered in their own words"}, nil
			}
			return &tools.Answer{Result: answer, Text: "The user chose: " + answer.Action, Summary: "answered: " + answer.Action}, nil
		},
	}, nil
}

func (a promptUserArgs) check() error {
	switch {
	case strings.TrimSpace(a.Message) == "":
		return fault.Invalid("message is empty; give the question for the user")
	case len([]rune(a.Message)) > tools.MaxMessage:
		return fault.Invalid("message has more than %d characters", tools.MaxMessage)
	case len(a.Actions) == 0 || len(a.Actions) > 8:
		return fault.Invalid("actions must have one to eight labels")
	}
	seen := map[string]bool{}
	for _, action := range a.Actions {
		if strings.TrimSpace(action) == "" || fault.Escape(action) != action || len(action) > 100 || strings.Contains(action, "\n") {
			return fault.Invalid("%s is not a valid action: use one visible line of at most 100 bytes", fault.Quote(action))
		}
		if seen[action] {
			return fault.Invalid("action %s is given twice", fault.Quote(action))
		}
		seen[action] = true
	}
	return nil
}
