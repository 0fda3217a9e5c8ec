package tools

import (
	"context"
	"errors"
	"sync"

	"pillion/internal/fault"
)

// running is the calls that are under way, so that the user can stop one where
// the editor shows it.
type running struct {
	mu    sync.Mutex // guards stops
	stops map[callKey]context.CancelCauseFunc
}

// callKey tells calls apart: a session names its calls as it likes.
type callKey struct{ session, call string }

// errStopped is the cause of a context that ended by Registry.Stop.
var errStopped = errors.New("the user stopped this call")

// Stop ends a call for the user: what it waits for is withdrawn, what it runs is
// killed. It reports false for a call that is not under way.
func (r *Registry) Stop(sessionID, callID string) bool {
	r.running.mu.Lock()
	defer r.running.mu.Unlock()
	stop, ok := r.running.stops[callKey{sessionID, callID}]
	if ok {
		stop(errStopped)
	}
	return ok
}

// StopSession is Stop for all calls of a session.
func (r *Registry) StopSession(sessionID string) {
	r.running.mu.Lock()
	defer r.running.mu.Unlock()
	for key, stop := range r.running.stops {
		if key.session == sessionID {
			stop(errStopped)
		}
	}
}

func (r *running) enter(ctx context.Context, c Call) (_ context.Context, leave func()) {
	ctx, stop := context.WithCancelCause(ctx)
	key := callKey{c.Session.ID(), c.CallID}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stops == nil {
		r.stops = map[callKey]context.CancelCauseFunc{}
	}
	r.stops[key] = stop
	return ctx, func() {
		stop(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.stops, key)
	}
}

// noteStopped tells the agent that it was the user who ended the call, and not
// itself.
func (a *Answer) noteStopped(ctx context.Context) {
	if a.Err != nil && a.Err.Code == fault.Cancelled && errors.Is(context.Cause(ctx), errStopped) {
		a.Err = fault.New(fault.Cancelled, "%w", errStopped).WithHint("do not repeat the call; ask the user what they want")
	}
}

// room is how many bytes the plans of calls that wait for an answer may hold together,
// whoever made them: their arguments, and the texts before and after.
type room struct {
	mu   sync.Mutex // guards held
	held int
}

// mostWaiting is enough for hundreds of calls of the usual size.
const mostWaiting = 24 << 20

// retryRoom is when an agent may try again: a user answers sooner or later.
const retryRoom = 5000

// reserve refuses a call for which there is no room, unless nothing else waits.
func (r *room) reserve(n int) (give func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held > 0 && r.held+n > mostWaiting {
		return nil, fault.New(fault.RateLimited, "the calls that wait for the user's answer hold as much memory as they may; nothing was changed").
			With("retry_after_ms", retryRoom).WithHint("make this call again when the user has answered others, or change less at once")
	}
	r.held += n
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held -= n
	}, nil
}

// weight is about what a call holds while it waits.
func (p *pending) weight() int {
	n := len(p.call.Arguments)
	if e := p.edits(); e != nil {
		n += 2 * weightOf(e.Set) // the texts, and the diff of them
	}
	return n
}
