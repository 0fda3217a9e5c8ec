package tools

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/match"
	"pillion/tools/patching"
)

var _ = define(NewHuman(Spec{
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

func planPatchReview(ctx context.Context, in Input, args patchReviewArgs) (*Action, error) {
	switch size := int64(len(args.Diff)); {
	case args.Diff == "":
		return nil, invalid("diff is empty; give the patch to review")
	case size > in.Limits.DiffBytes:
		return nil, fault.New(fault.FileTooLarge, "the patch has %d bytes, over the limit of %d", size, in.Limits.DiffBytes).
			With("size", size).With("limit", in.Limits.DiffBytes).WithHint("have it reviewed in parts")
	case len([]rune(args.Message)) > maxMessage:
		return nil, invalid("message has more than %d characters", maxMessage)
	}
	r, err := patching.NewReview(ctx, in.patching(), args.Diff)
	if err != nil {
		return nil, err
	}
	agent := in.Session.Agent()
	question := PatchReview{
		SessionID: in.Session.ID(), Agent: approval.Agent{Name: agent.Name, Via: agent.Via},
		Message: fault.Escape(args.Message), Files: r.Show(),
	}
	switch size, wire := question.size(); {
	case size > mostReviewed:
		return nil, fault.New(fault.FileTooLarge, "the files of the patch have %d bytes, over the limit of %d for a review", size, mostReviewed).
			WithHint("have it reviewed in parts")
	case wire > shownBytes:
		return nil, fault.New(fault.FileTooLarge, "the patch is too large to show: the message would have %d bytes, over the limit of %d", wire, shownBytes).
			WithHint("have it reviewed in parts")
	}
	return &Action{
		Title:   fmt.Sprintf("Review a patch of %s", count(len(question.Files), "file")),
		Preview: approval.Preview{Kind: "text", Markdown: question.words(promptPatch)},
		Run: func(ctx context.Context, effects Effects) (*Answer, error) {
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
func (r PatchReview) size() (size, wire int) {
	add := func(texts ...string) {
		for _, text := range texts {
			size += len(text)
		}
		wire += wireSize(texts...)
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
func reviewAnswer(ctx context.Context, in Input, r *patching.Review, a ReviewAnswer) (*Answer, error) {
	result := patchReviewResult{Action: ReviewCancel, ChunksSelected: []int{}, ChunksTotal: r.Total, Feedback: a.Feedback}
	cancelled := &Answer{Text: patchText("The user chose nothing from the patch.", a.Feedback), Summary: "nothing was chosen"}
	if a.Action != ReviewApply {
		cancelled.Result = result
		return cancelled, nil
	}
	t, err := r.Take(a.Selected, a.Edited)
	if err == nil {
		err = t.Follow(ctx, in.patching())
	}
	if err != nil {
		return nil, err
	}
	if result.FilteredDiff = t.Diff(); result.FilteredDiff == "" {
		cancelled.Result = result
		return cancelled, nil
	}
	result.Action, result.ChunksSelected, result.Edited = ReviewApply, t.Numbers, t.Edited
	said := fmt.Sprintf("The user chose %d of %s", len(t.Numbers), count(r.Total, "chunk"))
	if len(t.Numbers) < r.Total {
		said += " (no. " + match.List(t.Numbers, len(t.Numbers)) + ")"
	}
	if t.Edited {
		said += ", and edited the result"
	}
	summary := strings.ToLower(said[len("The user "):])
	said = patchText(said+". No file was changed.", a.Feedback) + "\nThis is what they chose, for apply_patch:\n"
	return &Answer{Result: result, Text: said + result.FilteredDiff, rest: "copy these chunks from your own patch, or have it reviewed in parts", Summary: summary}, nil
}

func patchText(said, feedback string) string {
	if feedback == "" {
		return said
	}
	return said + "\nTheir reason: " + feedback
}
