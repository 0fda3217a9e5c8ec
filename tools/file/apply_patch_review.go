package file

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/match"
	"pillion/tools/patching"
)

var _ = tools.Define(tools.NewHuman(tools.Spec{
	Name:        "apply_patch_review",
	Title:       "Review patch",
	Description: "Shows the user a patch, to choose hunks from and to edit. Changes no file: returns the diff that they took, for apply_patch. Use it only when there is something to choose.",
	Success:     true,
	Results:     []any{patchReviewResult{}},
}, planPatchReview))

type patchReviewArgs struct {
	Diff    string `json:"diff" jsonschema:"as for apply_patch"`
	Message string `json:"message,omitempty" jsonschema:"what to know when choosing"`
}

type patchReviewResult struct {
	Action         string `json:"action"`
	FilteredDiff   string `json:"filtered_diff"`
	ChunksSelected []int  `json:"chunks_selected"`
	ChunksTotal    int    `json:"chunks_total"`
	Edited         bool   `json:"edited"`
	Feedback       string `json:"feedback,omitempty"`
}

func planPatchReview(ctx context.Context, in tools.Input, args patchReviewArgs) (*tools.Action, error) {
	switch size := int64(len(args.Diff)); {
	case args.Diff == "":
		return nil, fault.Invalid("diff is empty; give the patch to review")
	case size > in.Limits.DiffBytes:
		return nil, fault.New(fault.FileTooLarge, "the patch has %d bytes, over the limit of %d", size, in.Limits.DiffBytes).
			With("size", size).With("limit", in.Limits.DiffBytes).WithHint("have it reviewed in parts")
	case len([]rune(args.Message)) > tools.MaxMessage:
		return nil, fault.Invalid("message has more than %d characters", tools.MaxMessage)
	}
	r, err := patching.NewReview(ctx, patchingInput(in), args.Diff)
	if err != nil {
		return nil, err
	}
	agent := in.Session.Agent()
	question := tools.PatchReview{
		SessionID: in.Session.ID(), Agent: approval.Agent{Name: agent.Name, Via: agent.Via},
		Message: fault.Escape(args.Message), Files: r.Show(),
	}
	switch size, wire := size(question); {
	case size > mostReviewed:
		return nil, fault.New(fault.FileTooLarge, "the files of the patch have %d bytes, over the limit of %d for a review", size, mostReviewed).
			WithHint("have it reviewed in parts")
	case wire > tools.ShownBytes:
		return nil, fault.New(fault.FileTooLarge, "the patch is too large to show: the message would have %d bytes, over the limit of %d", wire, tools.ShownBytes).
			WithHint("have it reviewed in parts")
	}
	return &tools.Action{
		Title:   fmt.Sprintf("Review a patch of %s", tools.Count(len(question.Files), "file")),
		Preview: approval.Preview{Kind: "text", Markdown: question.Words(tools.PromptPatch)},
		Run: func(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
			answer, err := reviewPatch(ctx, effects.Human, question)
			if err != nil {
				return nil, err
			}
			in.Snapshot = effects.Snapshot()
			return reviewAnswer(ctx, in, r, answer)
		},
	}, nil
}

// mostReviewed bounds the texts of one review: it is one message to the editor.
const mostReviewed = 12 << 20

// size is that of all texts, and what they have in the message.
func size(r tools.PatchReview) (size, wire int) {
	add := func(texts ...string) {
		for _, text := range texts {
			size += len(text)
		}
		wire += tools.WireSize(texts...)
	}
	for _, f := range r.Files {
		add(f.Before, f.After)
		for _, h := range f.Hunks {
			add(h.Lines...)
		}
	}
	return size, wire
}

// reviewAnswer is what the user took, as a patch for the files as they are by now.
func reviewAnswer(ctx context.Context, in tools.Input, r *patching.Review, a tools.ReviewAnswer) (*tools.Answer, error) {
	result := patchReviewResult{Action: tools.ReviewCancel, ChunksSelected: []int{}, ChunksTotal: r.Total, Feedback: a.Feedback}
	cancelled := &tools.Answer{Text: patchText("The user chose nothing from the patch.", a.Feedback), Summary: "nothing was chosen"}
	if a.Action != tools.ReviewApply {
		cancelled.Result = result
		return cancelled, nil
	}
	t, err := r.Take(a.Selected, a.Edited)
	if err == nil {
		err = t.Follow(ctx, patchingInput(in))
	}
	if err != nil {
		return nil, err
	}
	if result.FilteredDiff = t.Diff(); result.FilteredDiff == "" {
		cancelled.Result = result
		return cancelled, nil
	}
	result.Action, result.ChunksSelected, result.Edited = tools.ReviewApply, t.Numbers, t.Edited
	said := fmt.Sprintf("The user chose %d of %s", len(t.Numbers), tools.Count(r.Total, "chunk"))
	if len(t.Numbers) < r.Total {
		said += " (no. " + match.List(t.Numbers, len(t.Numbers)) + ")"
	}
	if t.Edited {
		said += ", and edited the result"
	}
	summary := strings.ToLower(said[len("The user "):])
	said = patchText(said+". No file was changed.", a.Feedback) + "\nThis is what they chose, for apply_patch:\n"
	return &tools.Answer{Result: result, Text: said + result.FilteredDiff, Rest: "copy these chunks from your own patch, or have it reviewed in parts", Summary: summary}, nil
}

func patchText(said, feedback string) string {
	if feedback == "" {
		return said
	}
	return said + "\nTheir reason: " + feedback
}

// reviewPatch asks the user. Whatever is no clear yes takes nothing.
func reviewPatch(ctx context.Context, h tools.Human, r tools.PatchReview) (tools.ReviewAnswer, error) {
	if reviewer, ok := h.(tools.PatchReviewer); ok {
		return reviewer.ReviewPatch(ctx, r)
	}
	return tools.ReviewPatchByPrompt(ctx, h, r)
}
