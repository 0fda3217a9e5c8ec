package rpc

import (
	"os"
	"slices"
	"sync"

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
// from now on, if so many bytes show all of it, or a page has.
func (q *questions) show(one *question, limit int) approval.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, whole := boxText(one.request, limit); whole {
		one.shown = one.request.Digest
	} else if one.shown != one.request.Digest {
		one.shown = ""
	}
	return one.request
}

// fits says whether so many bytes show all of a question.
func (q *questions) fits(one *question, limit int) bool {
	_, whole := boxText(q.current(one), limit)
	return whole
}

// current gives the request as it stands, where it cannot be shown as a whole.
func (q *questions) current(one *question) approval.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return one.request
}

// markShown notes the digest of what the user markShown of a question, "" for nothing.
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

// give answers a question by command: the one named, or the one in front. decide
// makes the answer of its request.
func (q *questions) give(id string, decide func(approval.Request) (approval.Answer, error)) (approval.Answer, string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one, err := q.find(id)
	if err != nil {
		return approval.Answer{}, "", err
	}
	answer, err := decide(one.request)
	switch {
	case err != nil:
		return answer, "", err
	case answer.Decision == approval.Approve && one.shown == "":
		return answer, "", wire.Errorf(wire.CodeRequestFailed, "request %s was not shown yet, or not as a whole; pillion.show shows it", one.request.ApprovalID)
	}
	answer.Digest = one.shown // never a yes to what was not on show
	one.answered = true
	one.answer <- answer
	return answer, one.request.ApprovalID, nil
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
