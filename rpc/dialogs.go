package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/approval"
)

// answerTime is how long an editor may take for what needs no human.
const answerTime = 30 * time.Second

// dialogs puts questions to the human through the editor. With a plugin they are
// its dialogs; without one, LSP's own message box with buttons.
type dialogs struct {
	server *server
	client client
	// box is held while a message box is open: one at a time, or they cover each
	// other.
	box chan struct{}
}

// Ask shows an approval and blocks until it is answered.
func (d *dialogs) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	if !d.client.Capabilities.Approval {
		return d.askInBox(ctx, r)
	}
	var a approval.Answer
	err := d.server.conn.Call(ctx, "approval/request", r, &a)
	return a, denied(err)
}

// denied turns an editor that cannot show a dialog into nobody to be asked. Any
// other failure stays what it is; none of them is a yes.
func denied(err error) error {
	var broken *wire.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken) && broken.Code == wire.CodeMethodNotFound:
		return approvalUnavailable("the editor has no approval dialog; update its Pillion extension")
	case errors.As(err, &broken):
		return approvalUnavailable("the editor could not show the dialog: " + fault.Escape(broken.Message))
	case errors.Is(err, wire.ErrClosed):
		return approvalUnavailable("the editor is gone")
	}
	return err
}

func approvalUnavailable(why string) error { return unavailable(why) }

// unavailable is approval.ErrUnavailable with a text that says what would help.
type unavailable string

func (u unavailable) Error() string { return string(u) }
func (u unavailable) Unwrap() error { return approval.ErrUnavailable }

// Changed brings an open dialog up to date.
func (d *dialogs) Changed(c approval.Changed) {
	if d.client.Capabilities.Approval {
		d.server.conn.Notify("approval/changed", c) //nolint:errcheck // the answer is checked against the digest
	}
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

// Prompt asks the human a question with buttons.
func (d *dialogs) Prompt(ctx context.Context, message string, actions []string) (string, error) {
	if !d.client.Capabilities.Prompt {
		chosen, err := d.showBox(ctx, messageInfo, message, actions)
		if chosen == "" {
			chosen = "cancel"
		}
		return chosen, err
	}
	var answer struct {
		Action string `json:"action"`
	}
	err := d.server.conn.Call(ctx, "prompt/user", promptUser{rand.Text(), message, actions}, &answer)
	return answer.Action, promptFault(err)
}

type promptUser struct {
	PromptID string   `json:"promptId"`
	Message  string   `json:"message"`
	Actions  []string `json:"actions"`
}

func promptFault(err error) error {
	if err = denied(err); errors.Is(err, approval.ErrUnavailable) {
		return fault.New(fault.ApprovalUnavailable, "the human cannot be asked: %w", err)
	}
	return err
}

// The buttons of a message box. The refusing one is first, because some editors
// preselect the first.
const (
	boxReject  = "Reject"
	boxApprove = "Approve"
	boxSession = "Approve for this session"
)

// askInBox asks an editor without a plugin. A box that is dismissed refuses.
func (d *dialogs) askInBox(ctx context.Context, r approval.Request) (approval.Answer, error) {
	actions := []string{boxReject, boxApprove}
	remember := slices.IndexFunc(r.Decisions, func(c approval.Choice) bool { return c.Scope == approval.Session })
	if remember >= 0 {
		actions = append(actions, boxSession)
	}
	chosen, err := d.showBox(ctx, messageWarning, boxText(r, remember), actions)
	if err != nil {
		return approval.Answer{}, err
	}
	switch chosen {
	case boxApprove:
		return approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}, nil
	case boxSession:
		return approval.Answer{Decision: approval.Approve, DecisionID: r.Decisions[remember].ID}, nil
	}
	return approval.Answer{Decision: approval.Reject}, nil
}

func boxText(r approval.Request, remember int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s asks: %s\n", fault.Quote(r.Agent.Name), fault.Escape(r.Title))
	for _, reason := range r.Reasons {
		out.WriteString("• " + fault.Escape(reason) + "\n")
	}
	out.WriteString("\n" + approval.PlainPreview(r.Preview, boxPreview))
	if remember >= 0 {
		out.WriteString("\nFor this session would mean: " + r.Decisions[remember].Rule)
	}
	return out.String()
}

// boxPreview is how much of a preview fits a message box, in bytes.
const boxPreview = 2000

// showBox is window/showMessageRequest. It returns "" for a dismissed box.
func (d *dialogs) showBox(ctx context.Context, kind messageType, text string, actions []string) (string, error) {
	resume := wire.Waiting(ctx)
	select {
	case d.box <- struct{}{}:
		resume()
		defer func() { <-d.box }()
	case <-ctx.Done():
		resume()
		return "", ctx.Err()
	}
	request := showMessageRequest{Type: kind, Message: text}
	for _, a := range actions {
		request.Actions = append(request.Actions, messageAction{a})
	}
	var chosen *messageAction
	err := d.server.conn.Call(ctx, "window/showMessageRequest", request, &chosen)
	if err != nil || chosen == nil {
		return "", denied(err)
	}
	return chosen.Title, nil
}

type showMessageRequest struct {
	Type    messageType     `json:"type"`
	Message string          `json:"message"`
	Actions []messageAction `json:"actions"`
}

type messageAction struct {
	Title string `json:"title"`
}
