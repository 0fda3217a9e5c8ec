package rpc

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"go.lsp.dev/uri"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/approval"
)

// questions are the approvals that wait in an editor without a plugin, in the order
// in which they came. Each can be answered in its message box, or by a command.
type questions struct {
	mu      sync.Mutex // guards all below, and the fields of each question that say so
	waiting []*question
}

// question is one approval that waits.
type question struct {
	answer chan approval.Answer // of a command

	// Guarded by questions.mu.
	request  approval.Request // as the plan stands
	shown    string           // the digest of what the user saw last, "" of nothing yet
	answered bool
	page     string // the file that shows it, "" if none does
}

func (q *questions) open(r approval.Request) *question {
	one := &question{request: r, answer: make(chan approval.Answer, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, one)
	return one
}

func (q *questions) close(one *question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *question) bool { return other == one })
	if one.page != "" {
		os.Remove(one.page) //nolint:errcheck // it is a temporary file
	}
}

// update has a question ask about the plan as it stands now.
func (q *questions) update(c approval.Changed) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.waiting {
		if one.request.ApprovalID == c.ApprovalID {
			one.request.Reasons, one.request.Preview, one.request.Digest = c.Reasons, c.Preview, c.Digest
		}
	}
}

// show gives the request as it stands, to be shown at once: an answer holds for it
// from now on, if a box shows all of it, or a page has.
func (q *questions) show(one *question) approval.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, whole := boxText(one.request, boxPreview); whole {
		one.shown = one.request.Digest
	} else if one.shown != one.request.Digest {
		one.shown = ""
	}
	return one.request
}

// current gives the request as it stands, where it cannot be shown as a whole.
func (q *questions) current(one *question) approval.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return one.request
}

// markShown notes the digest of what the user saw of a question, "" for nothing.
func (q *questions) markShown(one *question, digest string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one.shown = digest
}

// list gives what waits, in order.
func (q *questions) list() []*question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiting)
}

// forSession is the id of the choice that holds for the session, whatever it has in the request.
const forSession = "for the session"

// give answers a question by command, the one named, or the one in front, and gives its id.
func (q *questions) give(id string, answer approval.Answer) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one, err := q.find(id)
	if err != nil {
		return "", err
	}
	if answer.DecisionID == forSession {
		choice := rememberable(one.request)
		if choice == nil {
			return "", wire.Errorf(wire.CodeRequestFailed, "this can only be approved once")
		}
		answer.DecisionID = choice.ID
	}
	if answer.Decision == approval.Approve && one.shown == "" {
		return "", wire.Errorf(wire.CodeRequestFailed, "request %s was not shown yet, or not as a whole; pillion.show shows it", one.request.ApprovalID)
	}
	answer.Digest = one.shown // never a yes to what was not on show
	one.answered = true
	one.answer <- answer
	return one.request.ApprovalID, nil
}

// front is the question that a command without a name means, nil if none waits.
func (q *questions) front() *question {
	q.mu.Lock()
	defer q.mu.Unlock()
	one, _ := q.find("")
	return one
}

// find needs the lock. In front is what the user looks at: the first that was shown.
func (q *questions) find(id string) (*question, error) {
	var front *question
	for _, one := range q.waiting {
		switch {
		case one.answered:
		case one.request.ApprovalID == id:
			return one, nil
		case front == nil, front.shown == "" && one.shown != "":
			front = one
		}
	}
	switch {
	case id != "":
		return nil, wire.Errorf(wire.CodeInvalidParams, "no request %q is waiting; pillion.status lists the waiting ones", id)
	case front == nil:
		return nil, wire.Errorf(wire.CodeRequestFailed, "no request is waiting")
	}
	return front, nil
}

// A page is a question as a document. It is for an editor that has no message boxes
// with buttons, but shows what waits and runs commands (Helix 25.01): the question is
// announced, shown when the user asks for it, and answered by a command.

// announce tells of a question. It takes back that the question was shown: its box never opened.
func (d *dialogs) announce(q *question) {
	d.boxless.Store(true)
	d.questions.markShown(q, "")
	r := q.request // what is read of it does not change
	d.server.show(messageWarning, "%s asks: %s (pillion.show, then pillion.approve or pillion.reject)",
		fault.Clip(fault.Quote(r.Agent.Name), boxLine), fault.Clip(fault.Escape(r.Title), boxLine))
}

// showPage opens a question in the editor. From then on it can be approved.
func (d *dialogs) showPage(ctx context.Context, q *question) error {
	file, digest, err := d.questions.writePage(q)
	if err != nil {
		return wire.Errorf(wire.CodeRequestFailed, "the request cannot be shown: %v", err)
	}
	var answer struct {
		Success bool `json:"success"`
	}
	err = d.server.conn.Call(ctx, "window/showDocument", showDocument{string(uri.File(file)), true}, &answer)
	if err == nil && !answer.Success {
		err = errors.New("the editor did not open it")
	}
	if err != nil {
		return wire.Errorf(wire.CodeRequestFailed, "the request is in %s but cannot be shown: %v", fault.Quote(file), err)
	}
	d.questions.markShown(q, digest)
	return nil
}

type showDocument struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
}

// writePage writes a question as it stands into a file that goes when it is answered,
// and gives the digest of what it shows.
func (q *questions) writePage(one *question) (file, digest string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f, err := os.CreateTemp("", "pillion-*.diff")
	if err != nil {
		return "", "", err
	}
	if one.page != "" {
		os.Remove(one.page) //nolint:errcheck // it is a temporary file
	}
	one.page = f.Name()
	text, whole := boxText(one.request, pageLimit)
	if digest = one.request.Digest; !whole {
		digest = "" // what is not shown cannot be approved
	}
	_, err = f.WriteString(text + pageEnd)
	return one.page, digest, errors.Join(err, f.Close())
}

const (
	pageLimit = 1 << 20 // bytes of a preview
	pageEnd   = "\n\nAnswer with pillion.approve, pillion.approveSession, pillion.reject or pillion.cancel.\n"
)
