package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

// PatchReview is a patch that the human is to choose from. Nothing comes of it but
// the choice.
type PatchReview struct {
	SessionID string
	Agent     approval.Agent
	Message   string // escaped
	Files     []ReviewFile
}

// ReviewFile is one file of a patch, in the wire shape of patch/review.
type ReviewFile struct {
	// Path is unique in the review: the file's name after the patch, of a deleted one the
	// name it had.
	Path      string           `json:"path"`
	From      string           `json:"from,omitempty"` // of a file that is moved or copied: where from
	URI       string           `json:"uri"`
	Operation change.Operation `json:"operation"`
	Language  string           `json:"language"`
	// Note is what happens to the file beside its name and lines: "mode 100644 → 100755".
	Note string `json:"note,omitempty"`
	// Whole is what there is to say of a file without lines beside its operation and its
	// names, the note included: "binary, 79 → 99 bytes".
	Whole        string       `json:"whole,omitempty"`
	Hunks        []ReviewHunk `json:"hunks"`
	Before       string       `json:"before"`
	After        string       `json:"after"`
	Additions    int          `json:"additions"`
	Deletions    int          `json:"deletions"`
	OpenInEditor bool         `json:"openInEditor"`
	Dirty        bool         `json:"dirty"`
}

// ReviewHunk is what can be taken or left. Lines have their ' ', '+' or '-' and no
// line end.
type ReviewHunk struct {
	ID     string   `json:"id"`
	Header string   `json:"header"`
	Lines  []string `json:"lines"`
}

// ReviewAnswer is what the human made of a patch: the result of patch/review.
type ReviewAnswer struct {
	Action   string         `json:"action"` // ReviewApply or ReviewCancel
	Selected []string       `json:"selected"`
	Edited   approval.Texts `json:"edited,omitempty"` // whole texts, by ReviewFile.Path
	Feedback string         `json:"feedback,omitempty"`
}

// The actions of a review. Whatever is not ReviewApply is ReviewCancel.
const (
	ReviewApply  = "apply"
	ReviewCancel = "cancel"
)

// PatchReviewer is a Human with a view for patches. Of any other the question is
// asked as prompt_user's are.
type PatchReviewer interface {
	ReviewPatch(ctx context.Context, r PatchReview) (ReviewAnswer, error)
}

// reviewPatch asks the human. Whatever is no clear yes takes nothing.
func reviewPatch(ctx context.Context, h Human, r PatchReview) (ReviewAnswer, error) {
	if reviewer, ok := h.(PatchReviewer); ok {
		return reviewer.ReviewPatch(ctx, r)
	}
	return ReviewPatchByPrompt(ctx, h, r)
}

// ReviewPatchByPrompt asks with two buttons, the refusing one first: for all of the
// patch, or none of it.
func ReviewPatchByPrompt(ctx context.Context, h Human, r PatchReview) (ReviewAnswer, error) {
	const no, yes = "Take nothing", "Take the whole patch"
	chosen, err := h.Prompt(ctx, r.words(promptPatch), []string{no, yes})
	if err != nil || chosen != yes {
		return ReviewAnswer{Action: ReviewCancel}, err
	}
	answer := ReviewAnswer{Action: ReviewApply}
	for _, f := range r.Files {
		for _, hunk := range f.Hunks {
			answer.Selected = append(answer.Selected, hunk.ID)
		}
	}
	return answer, nil
}

// promptPatch is how much of a patch a message box shows, in bytes.
const promptPatch = 2000

// words are the review as plain text, the patch cut to so many bytes, which is said.
func (r PatchReview) words(limit int) string {
	var patch strings.Builder
	for _, f := range r.Files {
		patch.WriteString(f.words())
	}
	text := approval.PlainPreview(approval.Preview{Kind: "text", Markdown: patch.String()}, limit)
	if r.Message == "" {
		return "Which of this patch is to be taken?\n\n" + text
	}
	return r.Message + "\n\n" + text
}

func (f ReviewFile) words() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", f.Operation, fault.Quote(f.Path))
	if f.From != "" {
		out.WriteString(" from " + fault.Quote(f.From))
	}
	hasLines := slices.ContainsFunc(f.Hunks, func(h ReviewHunk) bool { return len(h.Lines) > 0 })
	if !hasLines {
		return change.Words(out.String(), f.Whole) + "\n"
	}
	if f.Note != "" {
		out.WriteString(", " + f.Note)
	}
	out.WriteString("\n")
	for _, hunk := range f.Hunks {
		out.WriteString(hunk.Header + "\n")
		for _, line := range hunk.Lines {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
