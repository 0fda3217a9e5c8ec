package rpc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/patching"
)

// answerTime is how long an editor may take for what needs no user.
const answerTime = 30 * time.Second

// dialogs puts questions to the user through the editor. With a plugin they are
// its dialogs; without one, LSP's own message box with buttons.
type dialogs struct {
	server  *server
	client  client
	sending sync.Mutex // one question at a time is put into the queue

	// Of editors without a plugin.
	questions questions
	place     boxSlot
	boxless   atomic.Bool  // it has said that it has no message boxes with buttons
	typed     atomic.Int64 // when the user changed a document last, Unix nanoseconds
}

// Ask shows an approval and blocks until it is answered.
func (d *dialogs) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if !d.client.Capabilities.Approval {
		return d.askPlainly(ctx, r)
	}
	d.notifyAway(r.Agent, "wants to "+r.Preview.Deed)
	if r.Preview.Draft && !d.shows("review") && d.client.Capabilities.Review {
		return d.reviewDraft(ctx, r)
	}
	r.Preview = d.asReview(r.Preview)
	wait, err := d.begin(ctx, r)
	var a approval.Answer
	if err == nil {
		err = wait(&a)
	}
	return a, denied(err)
}

// asReview is a draft as a review, for an editor that shows those.
func (d *dialogs) asReview(p approval.Preview) approval.Preview {
	if p.Draft && d.shows("review") {
		p.Kind = "review"
	}
	return p
}

// begin sends one question after the other, each when the editor has read those before it:
// what waits in the queue would else be written down as often as it is long.
func (d *dialogs) begin(ctx context.Context, r approval.Request) (wait func(result any) error, err error) {
	defer wire.Waiting(ctx)()
	d.sending.Lock()
	defer d.sending.Unlock()
	if err := d.server.conn.Unread(ctx, mostUnread); err != nil {
		return nil, err
	}
	return d.server.conn.Begin(ctx, "approval/request", r)
}

// mostUnread is what an editor may have left to read when it is sent a question.
const mostUnread = 1 << 20

// denied turns an editor that cannot show a dialog into nobody to be asked. Any
// other failure stays what it is; none of them is a yes.
func denied(err error) error {
	var broken *wire.Error
	var unread *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unread):
		return unavailable("the editor's answer cannot be read (" + fault.Escape(unread.Error()) + "); nothing was changed; update its Pillion plugin")
	case errors.As(err, &broken) && broken.Code == wire.CodeMethodNotFound:
		return unavailable("the editor has no approval dialog; update its Pillion plugin")
	case errors.As(err, &broken):
		return unavailable("the editor could not show the dialog: " + fault.Escape(broken.Message))
	case errors.Is(err, wire.ErrClosed):
		return unavailable("the editor is gone")
	}
	return err
}

// unavailable is approval.ErrUnavailable with a text that says what would help.
type unavailable string

func (u unavailable) Error() string { return string(u) }
func (u unavailable) Unwrap() error { return approval.ErrUnavailable }

// Changed brings an open dialog up to date.
func (d *dialogs) Changed(c approval.Changed) {
	if !d.client.Capabilities.Approval {
		d.questions.update(c)
		return
	}
	c.Preview = d.asReview(c.Preview)
	d.server.conn.Notify("approval/changed", c) //nolint:errcheck // the answer is checked against the digest
}

// Resolved tells the editor that a dialog is dead.
func (d *dialogs) Resolved(id string, outcome approval.Outcome) {
	if d.client.Capabilities.Approval {
		d.server.conn.Notify("approval/resolved", approvalResolved{id, outcome}) //nolint:errcheck // a late answer does nothing
	}
}

type approvalResolved struct {
	ApprovalID string           `json:"approvalId"`
	Outcome    approval.Outcome `json:"outcome"`
}

// Prompt asks the user a question with buttons.
func (d *dialogs) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	answer, err := d.Listen(ctx, by, message, actions)
	return answer.Action, err
}

// Listen asks likewise; plugins let the user answer in their own words, too.
func (d *dialogs) Listen(ctx context.Context, by approval.Agent, message string, actions []string) (tools.PromptAnswer, error) {
	if !d.client.Capabilities.Prompt {
		action, err := d.promptInBox(ctx, by, message, actions)
		return tools.PromptAnswer{Action: action}, err
	}
	var answer tools.PromptAnswer
	d.notifyAway(by, "asks: "+message)
	err := d.server.conn.Call(ctx, "prompt/user", promptUser{rand.Text(), by, message, actions}, &answer)
	return answer, promptFault(err)
}

// shows says that the editor has a dialog for approvals of this kind.
func (d *dialogs) shows(kind string) bool {
	return d.client.Capabilities.Approval && slices.Contains(d.client.Capabilities.ApprovalKinds, kind)
}

// ReviewPlan shows an agent's plan and asks whether it may be carried out. An editor may have
// a request of its own for that (plan/review); our plugins show it as any other approval.
func (d *dialogs) ReviewPlan(ctx context.Context, r tools.PlanReview) (tools.PlanAnswer, error) {
	switch {
	case d.shows("plan"):
		a, err := d.review(ctx, r.Request())
		return r.Answer(a), err
	case d.client.Capabilities.Plan:
		var answer tools.PlanAnswer
		err := d.server.conn.Call(ctx, "plan/review", planReview{rand.Text(), r.Plan, r.SessionID, r.Agent}, &answer)
		return answer, promptFault(err)
	}
	return tools.ReviewByPrompt(ctx, d, r)
}

// review asks by a dialog for approvals what is no approval of a call.
func (d *dialogs) review(ctx context.Context, r approval.Request) (approval.Answer, error) {
	r.ApprovalID = rand.Text()
	a, err := d.Ask(ctx, r.Compose())
	outcome := approval.Withdrawn
	if err == nil {
		outcome, _ = a.Decision.Outcome()
	}
	d.Resolved(r.ApprovalID, outcome)
	return a, promptFault(err)
}

// planReview is plan/review.
type planReview struct {
	PlanID    string         `json:"planId"`
	Plan      string         `json:"plan"`
	SessionID string         `json:"sessionId"`
	Agent     approval.Agent `json:"agent"`
}

// ReviewPatch shows a patch of which the user takes what they want, likewise.
func (d *dialogs) ReviewPatch(ctx context.Context, r tools.PatchReview) (tools.ReviewAnswer, error) {
	switch {
	case d.shows("review"):
		a, err := d.review(ctx, r.Request())
		return r.Answer(a), err
	case d.client.Capabilities.Review:
		var answer tools.ReviewAnswer
		err := d.server.conn.Call(ctx, "patch/review", patchReview{rand.Text(), r.SessionID, r.Agent, r.Message, r.Files, false}, &answer)
		return answer, promptFault(err)
	}
	return tools.ReviewPatchByPrompt(ctx, d, r)
}

// reviewDraft asks by patch/review.
func (d *dialogs) reviewDraft(ctx context.Context, r approval.Request) (approval.Answer, error) {
	params := patchReview{ReviewID: r.ApprovalID, SessionID: r.SessionID, Agent: r.Agent, Message: r.Preview.Message, Draft: true}
	for _, f := range r.Preview.Files {
		params.Files = append(params.Files, patching.ReviewOf(f.FilePreview))
	}
	var got tools.ReviewAnswer
	if err := d.server.conn.Call(ctx, "patch/review", params, &got); err != nil {
		return approval.Answer{}, denied(err)
	}
	out := approval.Answer{Decision: approval.Reject, Feedback: got.Feedback, Comments: got.Comments, Digest: r.Digest}
	switch got.Action {
	case tools.ReviewApply:
		out.Decision, out.Selected, out.After = approval.Approve, got.Selected, got.Edited
		if len(got.Edited) > 0 {
			out.Decision = approval.Edit
		}
	case tools.ReviewCancel:
		out.Decision = approval.Cancel
	case tools.DiscardID:
		out.DecisionID = tools.DiscardID
	}
	return out, nil
}

// patchReview is patch/review.
type patchReview struct {
	ReviewID  string                `json:"reviewId"`
	SessionID string                `json:"sessionId"`
	Agent     approval.Agent        `json:"agent"`
	Message   string                `json:"message"`
	Files     []patching.ReviewFile `json:"files"`
	Draft     bool                  `json:"draft,omitempty"` // of what is in a draft
}

type promptUser struct {
	PromptID string         `json:"promptId"`
	Agent    approval.Agent `json:"agent"`
	Message  string         `json:"message"`
	Actions  []string       `json:"actions"`
}

func promptFault(err error) error {
	if err = denied(err); errors.Is(err, approval.ErrUnavailable) {
		return fault.New(fault.ApprovalUnavailable, "the user cannot be asked: %w", err)
	}
	return err
}

// focusedParams leave focused out where the user is in the window.
type focusedParams struct {
	Focused *bool `json:"focused"`
	Sound   bool  `json:"sound"` // while the user is away, notifications of the system sound
}

// focused notes whether the user is in this window.
func (s *server) focused(_ context.Context, p focusedParams) (any, error) {
	away := p.Focused != nil && !*p.Focused
	s.away.Store(away)
	s.sounds.Store(p.Sound)
	if !away {
		s.running().Focused()
	}
	return nil, nil
}

// notifyAway shows a notification of the system where the user has left the window: an editor's
// own would not be seen.
func (d *dialogs) notifyAway(by approval.Agent, wants string) {
	if d.server.away.Load() {
		d.server.running().Notify(fault.Line(fault.Clip(by.Name, 40)+" "+fault.Clip(wants, 200)), d.server.sounds.Load())
	}
}
