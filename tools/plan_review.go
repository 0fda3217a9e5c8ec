package tools

import (
	"context"

	"pillion/tools/approval"
)

// PlanReview is an agent's plan that the human is to judge.
type PlanReview struct {
	Plan      string // escaped
	SessionID string
	Agent     approval.Agent
}

// PlanAnswer is what the human made of a plan: approve, reject or cancel.
type PlanAnswer struct {
	Decision approval.Decision `json:"decision"`
	Feedback string            `json:"feedback,omitempty"`
}

// PlanReviewer is a Human with a page for plans. Of any other the question is asked
// as prompt_user's are.
type PlanReviewer interface {
	ReviewPlan(ctx context.Context, r PlanReview) (PlanAnswer, error)
}

// reviewPlan asks the human. Whatever is no clear yes leaves the session as it is.
func reviewPlan(ctx context.Context, h Human, r PlanReview) (PlanAnswer, error) {
	if reviewer, ok := h.(PlanReviewer); ok {
		return reviewer.ReviewPlan(ctx, r)
	}
	return ReviewByPrompt(ctx, h, r)
}

// ReviewByPrompt asks for the human's judgement with two buttons, the refusing one
// first.
func ReviewByPrompt(ctx context.Context, h Human, r PlanReview) (PlanAnswer, error) {
	const no, yes = "Go on planning", "Carry out this plan"
	chosen, err := h.Prompt(ctx, r.Plan, []string{no, yes})
	if err == nil && chosen == yes {
		return PlanAnswer{Decision: approval.Approve}, nil
	}
	return PlanAnswer{Decision: approval.Reject}, err
}
