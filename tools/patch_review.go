package tools

import (
	"context"

	"pillion/tools/approval"
	"pillion/tools/patching"
)

// PatchReview is a patch that the user is to choose from. Nothing comes of it but
// the choice.
type PatchReview struct {
	SessionID string
	Agent     approval.Agent
	Message   string // escaped
	Files     []patching.ReviewFile
}

// ReviewAnswer is what the user made of a patch: the result of patch/review.
type ReviewAnswer struct {
	Action   string         `json:"action"` // ReviewApply or ReviewCancel
	Selected []string       `json:"selected"`
	Edited   approval.Texts `json:"edited,omitempty"` // whole texts, by ReviewFile.Path
	Feedback string         `json:"feedback,omitempty"`
	// Comments are on lines, of a draft.
	Comments []approval.Comment `json:"comments,omitempty"`
}

// The actions of a review. Whatever is not ReviewApply is ReviewCancel.
const (
	ReviewApply  = "apply"
	ReviewCancel = "cancel"
)

// Request is the review as a request for approval.
func (r PatchReview) Request() approval.Request {
	preview := approval.Preview{Kind: "review", Message: r.Message}
	for _, f := range r.Files {
		preview.Files = append(preview.Files, approval.File{FilePreview: f.Preview()})
	}
	return approval.Request{
		SessionID: r.SessionID, Agent: r.Agent, Tool: "apply_patch_review", Title: "Review a patch", Description: r.Message,
		Arguments: []byte("{}"), Reasons: []approval.Reason{}, Preview: preview,
		Decisions: []approval.Choice{
			{ID: approval.RejectID, Title: "Cancel", Scope: approval.Once},
			{ID: approval.ApproveID, Title: "Apply", Scope: approval.Once},
		},
	}
}

// Answer is what the user took: all hunks, where the answer names none.
func (r PatchReview) Answer(a approval.Answer) ReviewAnswer {
	out := ReviewAnswer{Action: ReviewCancel, Feedback: a.Reason()}
	if _, yes := a.Decision.Outcome(); !yes {
		return out
	}
	out.Action, out.Selected, out.Edited = ReviewApply, a.Selected, a.After
	if a.Selected == nil {
		out.Selected = r.hunks()
	}
	return out
}

// hunks are the ids of all.
func (r PatchReview) hunks() []string {
	out := []string{}
	for _, f := range r.Files {
		for _, hunk := range f.Hunks {
			out = append(out, hunk.ID)
		}
	}
	return out
}

// PatchReviewer is a Human with a view for patches. Of any other the question is
// asked as prompt_user's are.
type PatchReviewer interface {
	ReviewPatch(ctx context.Context, r PatchReview) (ReviewAnswer, error)
}

// ReviewPatchByPrompt asks with two buttons, the refusing one first: for all of the
// patch, or none of it.
func ReviewPatchByPrompt(ctx context.Context, h Human, r PatchReview) (ReviewAnswer, error) {
	const no, yes = "Take nothing", "Take the whole patch"
	chosen, err := h.Prompt(ctx, r.Agent, r.Words(PromptPatch), []string{no, yes})
	if err != nil || chosen != yes {
		return ReviewAnswer{Action: ReviewCancel}, err
	}
	return ReviewAnswer{Action: ReviewApply, Selected: r.hunks()}, nil
}

// PromptPatch is how much of a patch a message box shows, in bytes.
const PromptPatch = 2000

// Words are the review as plain text, the patch cut to so many bytes, which is said.
func (r PatchReview) Words(limit int) string {
	message := r.Message
	r.Message = ""
	text, _ := approval.PlainPreview(r.Request().Compose().Preview, limit)
	if message == "" {
		message = "Which parts of this patch do you want?"
	}
	return message + "\n\n" + text
}
