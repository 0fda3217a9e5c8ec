package tools

import (
	"context"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

var _ = define(NewHuman(Spec{
	Name:        "prompt_user",
	Title:       "Ask the user",
	Description: "Asks the user a question and returns the action they choose, or \"cancel\" with what they wrote instead.",
	Results:     []any{PromptAnswer{}},
}, planPromptUser))

type promptUserArgs struct {
	Message string   `json:"message"`
	Actions []string `json:"actions" jsonschema:"1 to 8 short labels"`
}

// PromptAnswer is the action that the user chose, or "cancel", with what they wrote instead.
type PromptAnswer struct {
	Action   string `json:"action"`
	Feedback string `json:"feedback,omitempty"`
}

// Listener is a Human whose users can answer in their own words, too.
type Listener interface {
	Listen(ctx context.Context, by approval.Agent, message string, actions []string) (PromptAnswer, error)
}

func promptUser(ctx context.Context, h Human, by approval.Agent, message string, actions []string) (PromptAnswer, error) {
	if listener, ok := h.(Listener); ok {
		return listener.Listen(ctx, by, message, actions)
	}
	action, err := h.Prompt(ctx, by, message, actions)
	return PromptAnswer{Action: action}, err
}

func planPromptUser(_ context.Context, in Input, args promptUserArgs) (*Action, error) {
	if err := args.check(); err != nil {
		return nil, err
	}
	agent := in.Session.Agent()
	by := approval.Agent{Name: agent.Name, Via: agent.Via}
	return &Action{
		Title:   "Ask the user",
		Preview: approval.Preview{Kind: "text", Markdown: fault.Escape(args.Message)},
		Run: func(ctx context.Context, effects Effects) (*Answer, error) {
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
				return &Answer{Result: answer, Text: "The user chose none of the actions and wrote: " + answer.Feedback, Summary: "answered in their own words"}, nil
			}
			return &Answer{Result: answer, Text: "The user chose: " + answer.Action, Summary: "answered: " + answer.Action}, nil
		},
	}, nil
}

func (a promptUserArgs) check() error {
	switch {
	case strings.TrimSpace(a.Message) == "":
		return invalid("message is empty; give the question for the user")
	case len([]rune(a.Message)) > maxMessage:
		return invalid("message has more than %d characters", maxMessage)
	case len(a.Actions) == 0 || len(a.Actions) > 8:
		return invalid("actions must have one to eight labels")
	}
	seen := map[string]bool{}
	for _, action := range a.Actions {
		if strings.TrimSpace(action) == "" || fault.Escape(action) != action || len(action) > 100 || strings.Contains(action, "\n") {
			return invalid("%s is not a valid action: use one visible line of at most 100 bytes", fault.Quote(action))
		}
		if seen[action] {
			return invalid("action %s is given twice", fault.Quote(action))
		}
		seen[action] = true
	}
	return nil
}

// maxMessage is the contract's limit for text that is shown to the user.
const maxMessage = 10_000
