package tools

import (
	"sync"

	"pillion/internal/fault"
)

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

// take refuses a call for which there is no room, unless nothing else waits.
func (r *room) take(n int) (give func(), err error) {
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
