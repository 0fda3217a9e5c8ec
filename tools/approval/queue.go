package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// Plan is what a request stands for while it waits. The door implements it.
type Plan interface {
	// Request is the question about the plan as it stands.
	Request() Request
	// Moved signals that the plan may rest on something that has changed.
	Moved() <-chan struct{}
	// Again makes the plan anew and reports how it compares with the last one.
	// An error means that it cannot be done any more.
	Again(ctx context.Context) (Continuity, error)
	// Adopt makes what the user gave a part of the plan: their own arguments, or the text
	// that they gave for an earlier plan. It fails when the two do not fit together.
	Adopt(ctx context.Context, a Answer) error
}

// Continuity compares a plan that was made again with the one before it.
type Continuity int

// The ways in which a plan continues.
const (
	Same      Continuity = iota
	Shifted              // the same edits, elsewhere in the file
	Different            // something else: it needs a yes of its own
)

// Queue holds the requests that wait. Each is answered by itself; they do not
// wait for one another.
type Queue struct {
	asker  Asker
	expiry time.Duration

	mu      sync.Mutex // guards waiting
	waiting map[string]Request
}

// NewQueue makes a queue that asks through asker. An expiry of zero means that a
// request waits for as long as its agent does.
func NewQueue(asker Asker, expiry time.Duration) *Queue {
	return &Queue{asker: asker, expiry: expiry, waiting: map[string]Request{}}
}

// Waiting lists the requests that are not answered yet, in no order.
func (q *Queue) Waiting() []Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Request, 0, len(q.waiting))
	for _, r := range q.waiting {
		out = append(out, r)
	}
	return out
}

// Ask puts the plan to the user and returns the answer. On return the answer
// holds for the plan as it stands now: if the world moved after the user looked,
// the plan has been made again and, unless its edits only shifted, the user has
// been asked again.
func (q *Queue) Ask(ctx context.Context, p Plan) (Answer, error) {
	var expires *time.Time
	if q.expiry > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, q.expiry, ErrExpired)
		defer cancel()
		at := time.Now().Add(q.expiry).UTC()
		expires = &at
	}
	for {
		request := p.Request()
		request.ExpiresAt = expires // one time limit, however often it is asked
		answer, holds, err := q.ask(ctx, p, request)
		if err != nil || holds {
			return answer, err
		}
	}
}

// ask shows one dialog. It reports false when its answer was given for something
// that is no longer the plan.
func (q *Queue) ask(ctx context.Context, p Plan, request Request) (Answer, bool, error) {
	d := q.open(request)
	defer q.forget(d.id)
	dialog, dismiss := context.WithCancel(ctx)
	defer dismiss()
	answers := make(chan reply, 1)
	go func() {
		answer, err := q.asker.Ask(dialog, d.request)
		answers <- reply{answer, err}
	}()
	var again <-chan time.Time // runs after a plan that could not be made
	for {
		select {
		case r := <-answers:
			return q.settle(ctx, d, p, r)
		case <-p.Moved():
			switch err := q.follow(ctx, d, p); {
			case err == nil:
				again = nil
			case again == nil:
				again = time.After(graceTime)
			}
		case <-again:
			again = nil
			if err := q.follow(ctx, d, p); err != nil {
				q.asker.Resolved(d.id, Stale)
				return Answer{}, false, err
			}
		case <-ctx.Done():
			return Answer{}, false, q.withdraw(ctx, d)
		}
	}
}

// graceTime is how long a plan may be impossible before its dialog is given up: a
// program that writes a file in place leaves it empty for a moment.
const graceTime = time.Second

type reply struct {
	answer Answer
	err    error
}

// dialog is one request on show.
type dialog struct {
	id      string
	request Request
	// current is the digest of the plan as it stands; accepted holds every digest
	// whose yes is a yes to the current plan.
	current  string
	accepted map[string]bool
}

func (q *Queue) open(r Request) *dialog {
	r.ApprovalID = rand.Text()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[r.ApprovalID] = r
	return &dialog{id: r.ApprovalID, request: r, current: r.Digest, accepted: map[string]bool{r.Digest: true}}
}

// update has Waiting show the request as it stands now.
func (q *Queue) update(id string, now Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.waiting[id]
	r.Title, r.Reasons, r.Arguments, r.Preview, r.Digest = now.Title, now.Reasons, now.Arguments, now.Preview, now.Digest
	q.waiting[id] = r
}

func (q *Queue) forget(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, id)
}

// follow makes the plan again and brings the open dialog up to date.
func (q *Queue) follow(ctx context.Context, d *dialog, p Plan) error {
	continuity, err := p.Again(ctx)
	if err != nil {
		return err
	}
	now := p.Request()
	if now.Digest == d.current {
		return nil
	}
	if continuity == Different {
		clear(d.accepted)
	}
	d.current = now.Digest
	d.accepted[now.Digest] = true
	q.update(d.id, now)
	q.asker.Changed(Changed{ApprovalID: d.id, Digest: now.Digest, Reasons: now.Reasons, Preview: now.Preview, Moved: continuity == Shifted})
	return nil
}

// settle takes an answer, after one last look at the world.
func (q *Queue) settle(ctx context.Context, d *dialog, p Plan, r reply) (Answer, bool, error) {
	if r.err != nil {
		if ctx.Err() != nil {
			return Answer{}, false, q.withdraw(ctx, d)
		}
		q.asker.Resolved(d.id, Withdrawn)
		return Answer{}, false, r.err
	}
	if r.answer.Digest == "" {
		r.answer.Digest = d.request.Digest
	}
	r.answer = r.answer.ofHunks(d.request.Preview)
	outcome, yes := r.answer.Decision.Outcome()
	if !yes {
		q.asker.Resolved(d.id, outcome)
		return r.answer, true, nil
	}
	if err := q.followPatiently(ctx, d, p); err != nil {
		if ctx.Err() != nil {
			return Answer{}, false, q.withdraw(ctx, d)
		}
		q.asker.Resolved(d.id, Stale)
		return Answer{}, false, err
	}
	if !d.accepted[r.answer.Digest] {
		q.asker.Resolved(d.id, Superseded)
		return Answer{}, false, adoptLate(ctx, p, r.answer)
	}
	said, err := true, error(nil)
	if len(r.answer.ModifiedArguments) > 0 {
		said, err = adoptArguments(ctx, p, r.answer)
	}
	if !said {
		outcome = Superseded
	}
	q.asker.Resolved(d.id, outcome)
	return r.answer, said, err
}

// adoptArguments plans with the user's own arguments. It reports false when there is
// something to say of these that the dialog did not say: they are shown first.
func adoptArguments(ctx context.Context, p Plan, a Answer) (said bool, err error) {
	before := p.Request()
	if err := p.Adopt(ctx, a); err != nil {
		return true, err
	}
	now := p.Request()
	return now.Digest == "" || !now.saysNew(before), nil // what needs no yes is bound to nothing
}

// Outcome is what a decision makes of the dialog, and whether it approves. What is
// no decision at all does not.
func (d Decision) Outcome() (o Outcome, yes bool) {
	switch d {
	case Approve:
		return Approved, true
	case Edit:
		return Edited, true
	case Cancel:
		return Cancelled, false
	}
	return Rejected, false
}

// followPatiently follows, and gives a plan that cannot be made at this very
// moment the same grace as while the dialog was open.
func (q *Queue) followPatiently(ctx context.Context, d *dialog, p Plan) error {
	err := q.follow(ctx, d, p)
	if err == nil {
		return nil
	}
	grace := time.After(graceTime)
	for {
		select {
		case <-p.Moved():
			if q.follow(ctx, d, p) == nil {
				return nil
			}
		case <-grace:
			return q.follow(ctx, d, p)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// adoptLate keeps what the user wrote for a plan that is no longer the plan: it
// is merged, and shown again.
func adoptLate(ctx context.Context, p Plan, a Answer) error {
	if a.Decision != Edit || len(a.After)+len(a.ModifiedArguments) == 0 {
		return nil
	}
	a.Selected = nil // hunks that are no more: what else is to be made is asked again
	return p.Adopt(ctx, a)
}

// withdraw takes the dialog down because the call ended before the user did.
func (q *Queue) withdraw(ctx context.Context, d *dialog) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrExpired) {
		q.asker.Resolved(d.id, Expired)
		return ErrExpired
	}
	q.asker.Resolved(d.id, Withdrawn)
	return ctx.Err()
}
