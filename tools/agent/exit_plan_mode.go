package agent

import (
	"context"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
)

var _ = tools.Define(tools.NewHuman(tools.Spec{
	Name:        "exit_plan_mode",
	Title:       "Leave plan mode",
	Description: "Shows the user your plan for approval; use it in plan mode once the plan is ready. Approved, the session leaves plan mode; otherwise returns what to change.",
	Results:     []any{exitPlanModeResult{}},
}, planExitPlanMode))

type exitPlanModeResult struct {
	Approved bool   `json:"approved"`
	Feedback string `json:"feedback,omitempty"`
	Plan     string `json:"plan,omitempty"` // as the user rewrote it
}

func planExitPlanMode(_ context.Context, in tools.Input, args tools.PlanArguments) (*tools.Action, error) {
	switch {
	case strings.TrimSpace(args.Plan) == "":
		return nil, fault.Invalid("plan is empty; give the plan for the user")
	case len([]rune(args.Plan)) > tools.MaxMessage:
		return nil, fault.Invalid("plan has more than %d characters; leave the details out", tools.MaxMessage)
	case in.Session.Mode() != policy.Plan:
		return nil, fault.New(fault.ExecutionFailed, "the session is not in plan mode").WithHint("go on: calls that need approval ask the user")
	}
	text := fault.Escape(args.Plan)
	return &tools.Action{
		Title:   "Leave plan mode",
		Preview: approval.Preview{Kind: "text", Markdown: text},
		Run: func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			agent := in.Session.Agent()
			answer, err := reviewPlan(ctx, effects.Human, tools.PlanReview{
				Plan: text, SessionID: in.Session.ID(), Agent: approval.Agent{Name: agent.Name, Via: agent.Via},
			})
			if err != nil {
				return nil, err
			}
			switch answer.Decision {
			case approval.Approve:
				if err := in.Session.SetMode(policy.Default); err != nil {
					return nil, err
				}
				said := "The user approved the plan; carry it out."
				if answer.Plan != "" {
					said = "The user edited the plan and approved it; carry out theirs:\n" + answer.Plan
				}
				return &tools.Answer{Result: exitPlanModeResult{true, answer.Feedback, answer.Plan}, Text: planText(said, answer.Feedback), Summary: "the plan was approved"}, nil
			case approval.Cancel:
				in.Session.Pause("the user stopped the agent at exit_plan_mode")
				return nil, tools.Cancelled(answer.Feedback)
			}
			return &tools.Answer{Result: exitPlanModeResult{Feedback: answer.Feedback}, Text: planText("The user did not approve the plan; the session stays in plan mode.", answer.Feedback), Summary: "the plan was not approved"}, nil
		},
	}, nil
}

func planText(said, feedback string) string {
	if feedback == "" {
		return said
	}
	return said + "\nTheir reason: " + feedback
}

// reviewPlan asks the user. Whatever is no clear yes leaves the session as it is.
func reviewPlan(ctx context.Context, h tools.Human, r tools.PlanReview) (tools.PlanAnswer, error) {
	if reviewer, ok := h.(tools.PlanReviewer); ok {
		return reviewer.ReviewPlan(ctx, r)
	}
	return tools.ReviewByPrompt(ctx, h, r)
}
