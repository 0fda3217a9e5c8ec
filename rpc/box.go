package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/approval"
)

// The buttons of a message box. The refusing one is first, because some editors
// preselect the first.
const (
	boxReject  = "Reject"
	boxApprove = "Approve"
	boxSession = "Approve for this session"
)

// askPlainly asks an editor without a plugin, by a message box. The user may answer
// by a command as well, whichever comes first.
func (d *dialogs) askPlainly(ctx context.Context, r approval.Request) (approval.Answer, error) {
	q := d.questions.open(r)
	defer d.questions.close(q)
	defer wire.Waiting(ctx)()
	box, end := context.WithCancel(context.Background()) // not the request's own: it waits already
	defer end()
	type reply struct {
		answer approval.Answer
		err    error
	}
	boxed := make(chan reply, 1)
	go func() {
		answer, err := d.askInBox(box, q)
		boxed <- reply{answer, err}
	}()
	for {
		select {
		case answer := <-q.answer:
			return answer, nil
		case r := <-boxed:
			if !errors.Is(r.err, errNoBoxes) || !(d.client.Commands && d.client.Progress) {
				return r.answer, r.err
			}
			d.announce(q)
		case <-ctx.Done():
			return approval.Answer{}, ctx.Err()
		}
	}
}

// askInBox shows the message box until it is answered. One that is dismissed
// refuses.
func (d *dialogs) askInBox(ctx context.Context, q *question) (approval.Answer, error) {
	var request approval.Request
	chosen, err := d.showBox(ctx, q.request.ApprovalID, func() showMessageRequest {
		request = d.questions.show(q)
		return approvalBox(request, d.client)
	})
	if err != nil {
		return approval.Answer{}, err
	}
	answer := approval.Answer{Decision: approval.Reject, Digest: request.Digest}
	remember := rememberable(request)
	_, whole := boxText(request, boxPreview)
	switch {
	case !whole: // there was no other button
	case chosen == boxApprove:
		answer.Decision, answer.DecisionID = approval.Approve, approval.ApproveID
	case chosen == boxSession && remember != nil:
		answer.Decision, answer.DecisionID = approval.Approve, remember.ID
	}
	return answer, nil
}

// approvalBox offers no approval of what it does not show.
func approvalBox(r approval.Request, c client) showMessageRequest {
	text, whole := boxText(r, boxPreview)
	actions := []string{boxReject}
	switch {
	case !whole && c.Commands:
		text += "\nThis box cannot show all of it. The command pillion.show opens it as a page; then pillion.approve approves it."
	case !whole:
		text += "\nThis box cannot show all of it, so it can only be rejected here. Reject it and ask for smaller steps, or use an editor with a Pillion plugin."
	case rememberable(r) != nil:
		actions = append(actions, boxApprove, boxSession)
	default:
		actions = append(actions, boxApprove)
	}
	return newBox(messageWarning, text, actions)
}

// rememberable is the choice that holds for the session, nil where none is offered.
func rememberable(r approval.Request) *approval.Choice {
	i := slices.IndexFunc(r.Decisions, func(c approval.Choice) bool { return c.Scope == approval.Session })
	if i < 0 {
		return nil
	}
	return &r.Decisions[i]
}

// boxText is a request in words: who asks, why, what would happen, and the rule that
// a yes for the session would mean. It is not whole where a part of that is left out.
func boxText(r approval.Request, preview int) (text string, whole bool) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s asks: %s\n", fault.Clip(fault.Quote(r.Agent.Name), boxLine), fault.Clip(fault.Line(r.Title), boxLine))
	var reasons strings.Builder
	for _, reason := range approval.Particular(r.Reasons) {
		reasons.WriteString("• " + reason.Text + "\n")
	}
	why, all := approval.Cut(reasons.String(), preview)
	shown, whole := approval.PlainPreview(r.Preview, preview)
	out.WriteString(why + "\n" + shown)
	whole = whole && all
	if remember := rememberable(r); remember != nil {
		rule := fault.Line(remember.Rule)
		out.WriteString("\nFor this session would mean: " + fault.Clip(rule, preview))
		whole = whole && len(rule) <= preview
	}
	return out.String(), whole
}

// What fits a message box, in bytes.
const (
	boxPreview = 2000
	boxLine    = 300
)

// promptInBox asks a question of the agent's own.
func (d *dialogs) promptInBox(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	defer wire.Waiting(ctx)()
	box, end := context.WithCancel(context.Background()) // not the request's own: it waits already
	defer end()
	defer context.AfterFunc(ctx, end)()
	text := fault.Quote(by.Name) + " asks:\n\n> " + strings.ReplaceAll(message, "\n", "\n> ")
	chosen, err := d.showBox(box, "", func() showMessageRequest { return newBox(messageInfo, text, actions) })
	switch {
	case ctx.Err() != nil:
		return "cancel", ctx.Err()
	case chosen == "":
		chosen = "cancel"
	}
	return chosen, promptFault(err)
}

// showBox is window/showMessageRequest. It returns "" for a dismissed box. The
// request is made when the box is about to open.
func (d *dialogs) showBox(ctx context.Context, owner string, request func() showMessageRequest) (string, error) {
	for anew := false; ; anew = true {
		b, err := d.place.acquire(ctx, owner, anew)
		if err != nil {
			return "", err
		}
		if err := d.quiet(ctx); err != nil {
			d.place.leave(b)
			return "", err
		}
		select {
		case <-b.lost:
			continue
		default:
		}
		var chosen messageAction
		answer, shown := make(chan error, 1), request()
		go func() { // it keeps its place until the editor answers: editors leave it on the screen when the request is cancelled
			answer <- d.server.conn.CallToTheEnd(ctx, "window/showMessageRequest", shown, &chosen)
			d.place.leave(b)
		}()
		var broken *wire.Error
		select {
		case err := <-answer:
			if errors.As(err, &broken) && broken.Code == wire.CodeMethodNotFound {
				return "", errNoBoxes
			}
			return chosen.Title, denied(err)
		case <-b.lost:
		case <-ctx.Done():
			d.place.retire(b)
			return "", ctx.Err()
		}
	}
}

const errNoBoxes = unavailable("the editor has no message boxes with buttons (window/showMessageRequest)")

// quiet waits until the user has not typed for a moment: the editor's box may take
// the keyboard, and the keys that were meant for the text with it. It begins with
// listening, because editors tell of what is typed only after a while.
func (d *dialogs) quiet(ctx context.Context) error {
	if err := pause(ctx, listenTime); err != nil {
		return err
	}
	for deadline := time.Now().Add(quietAtMost); ; {
		rest := quietTime - time.Since(time.Unix(0, d.typed.Load()))
		if rest <= 0 || time.Now().After(deadline) {
			return nil
		}
		if err := pause(ctx, rest); err != nil {
			return err
		}
	}
}

const (
	listenTime  = 300 * time.Millisecond
	quietTime   = time.Second
	quietAtMost = time.Minute
)

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newBox(kind messageType, text string, actions []string) showMessageRequest {
	request := showMessageRequest{Type: kind, Message: text}
	for _, a := range actions {
		request.Actions = append(request.Actions, messageAction{a})
	}
	return request
}

type showMessageRequest struct {
	Type    messageType     `json:"type"`
	Message string          `json:"message"`
	Actions []messageAction `json:"actions"`
}

type messageAction struct {
	Title string `json:"title"`
}

// boxSlot is where the one message box of an editor without a plugin is open. A box
// keeps it until the editor answers. When its question has ended otherwise, a second
// one on top of it would get the answer that the user is about to give to the
// first: the next one leaves them a moment. That a box is lost which is still needed
// only the user can say.
type boxSlot struct {
	mu   sync.Mutex // guards all below
	open *box       // nil: the place is free
	line []*box     // those that wait for it, the next one first
}

// box is one message box, open or in line.
type box struct {
	owner string        // the approval that it asks about, "" of another question
	turn  chan struct{} // closed when the place is its own
	lost  chan struct{} // closed when the user wants it anew
	ended bool          // its question has; it may still be on the screen
}

// acquire waits for the place. A box that is opened again comes before all others.
func (p *boxSlot) acquire(ctx context.Context, owner string, anew bool) (*box, error) {
	b := &box{owner: owner, turn: make(chan struct{}), lost: make(chan struct{})}
	p.mu.Lock()
	if anew {
		p.line = slices.Insert(p.line, 0, b)
	} else {
		p.line = append(p.line, b)
	}
	p.next()
	p.mu.Unlock()
	select {
	case <-b.turn:
		return b, nil
	case <-ctx.Done():
		p.leave(b)
		return nil, ctx.Err()
	}
}

// leave gives the place, or that in line, back.
func (p *boxSlot) leave(b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = slices.DeleteFunc(p.line, func(other *box) bool { return other == b })
	if p.open == b {
		p.open = nil
	}
	p.next()
}

// retire notes that a box is of no use any more, although it may still be seen. Editors
// that close it say so; there are some that never do.
func (p *boxSlot) retire(b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.ended = true
	time.AfterFunc(closingTime, func() { p.leave(b) })
}

// closingTime is for the editor to close a box, or for the user to look up from it.
const closingTime = 2 * time.Second

// answeredElsewhere frees the place of an approval's box: the user who answers by
// a command does not look at it.
func (p *boxSlot) answeredElsewhere(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil && p.open.owner == owner {
		p.open = nil
		p.next()
	}
}

// reopen has a box that the user does not see opened anew, or the next one if
// nobody needs it any more. It reports false when none is open.
func (p *boxSlot) reopen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return false
	}
	b := p.open
	p.open = nil
	if b.ended {
		p.next()
		return true
	}
	close(b.lost) // it comes back by acquire, before all others
	return true
}

// next needs the lock.
func (p *boxSlot) next() {
	if p.open == nil && len(p.line) > 0 {
		p.open, p.line = p.line[0], p.line[1:]
		close(p.open.turn)
	}
}
