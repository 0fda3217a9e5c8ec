package tools

import (
	"context"
	"encoding/json"
	"strings"

	"pillion/tools/approval"
)

// Human can be asked things that are no approval.
type Human interface {
	// Prompt shows a message of an agent's and returns the action that was chosen, or
	// "cancel" when the dialog was dismissed.
	Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error)
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

// PlanReview is an agent's plan that the user is to judge.
type PlanReview struct {
	Plan      string // escaped
	SessionID string
	Agent     approval.Agent
}

// PlanAnswer is what the user made of a plan: approve, reject or cancel. Plan is theirs,
// if they approve it as they rewrote it.
type PlanAnswer struct {
	Decision approval.Decision `json:"decision"`
	Feedback string            `json:"feedback,omitempty"`
	Plan     string            `json:"plan,omitempty"`
}

// Request is the review as a request for approval.
func (r PlanReview) Request() approval.Request {
	arguments, _ := json.Marshal(PlanArguments{r.Plan}) //nolint:errcheck // of a string
	return approval.Request{
		SessionID: r.SessionID, Agent: r.Agent, Tool: "exit_plan_mode", Title: "Carry out this plan?", Arguments: arguments, Reasons: []approval.Reason{},
		Preview: approval.Preview{Kind: "plan", Markdown: r.Plan},
		Decisions: []approval.Choice{
			{ID: approval.RejectID, Title: "Reject", Scope: approval.Once},
			{ID: approval.ApproveID, Title: "Approve", Scope: approval.Once},
		},
	}
}

// Answer is what became of the request. A plan is approved whole or not at all.
func (r PlanReview) Answer(a approval.Answer) PlanAnswer {
	var own PlanArguments
	if a.Decision == approval.Edit && json.Unmarshal(a.ModifiedArguments, &own) == nil && strings.TrimSpace(own.Plan) != "" {
		a.Decision = approval.Approve
	}
	if a.Decision != approval.Approve && a.Decision != approval.Cancel {
		a.Decision = approval.Reject
	}
	return PlanAnswer{Decision: a.Decision, Feedback: a.Feedback, Plan: own.Plan}
}

// PlanReviewer is a Human with a page for plans. Of any other the question is asked
// as prompt_user's are.
type PlanReviewer interface {
	ReviewPlan(ctx context.Context, r PlanReview) (PlanAnswer, error)
}

// ReviewByPrompt asks for the user's judgement with two buttons, the refusing one
// first.
func ReviewByPrompt(ctx context.Context, h Human, r PlanReview) (PlanAnswer, error) {
	const no, yes = "Go on planning", "Carry out this plan"
	chosen, err := h.Prompt(ctx, r.Agent, r.Plan, []string{no, yes})
	if err == nil && chosen == yes {
		return PlanAnswer{Decision: approval.Approve}, nil
	}
	return PlanAnswer{Decision: approval.Reject}, err
}

// PlanArguments are the arguments of exit_plan_mode, and what an editor sends of a plan that
// the user rewrote.
type PlanArguments struct {
	Plan string `json:"plan" jsonschema:"Markdown: what to do, in which files, how to check it"`
}
