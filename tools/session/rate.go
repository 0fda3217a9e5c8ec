package session

import (
	"sync"
	"time"
)

// Kind is what a call counts as.
type Kind int

// The kinds of calls that are counted apart.
const (
	Reads   Kind = iota // calls that change nothing
	Changes             // all others
)

// Limits are how many calls of each kind a session may make in any one minute;
// 0 is no limit.
type Limits struct {
	Changes int
	Reads   int
	All     int // of both kinds together
}

// DefaultLimits are those of the tool contract.
var DefaultLimits = Limits{Changes: 100, Reads: 6000}

const window = time.Minute

// rate counts calls over a sliding window. It keeps every time, not a bucket's
// level, so that the limit is exact at any pace.
type rate struct {
	now   func() time.Time
	start time.Time

	mu    sync.Mutex // guards what follows
	max   [3]int     // by Kind, and of all
	calls [3][]time.Duration
}

func newRate(limits Limits) *rate {
	r := &rate{now: time.Now, start: time.Now()}
	r.setLimits(limits)
	return r
}

func (r *rate) setLimits(limits Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.max = [3]int{Reads: limits.Reads, Changes: limits.Changes, all: limits.All}
}

// SetLimits changes the session's limits; calls made so far still count.
func (s *Session) SetLimits(limits Limits) { s.rate.setLimits(limits) }

// Allow counts a call and lets it pass, or says how long to wait. A call that
// does not pass is not counted.
func (s *Session) Allow(kind Kind) (retryAfter time.Duration, ok bool) {
	return s.rate.allow(kind)
}

// all stands for both kinds.
const all Kind = 2

func (r *rate) allow(kind Kind) (retryAfter time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now().Sub(r.start)
	if retryAfter = max(r.wait(kind, now), r.wait(all, now)); retryAfter > 0 {
		return retryAfter, false
	}
	for _, k := range []Kind{kind, all} {
		if r.max[k] > 0 {
			r.calls[k] = append(r.calls[k], now)
		}
	}
	return 0, true
}

// wait is how long a call of a kind has to wait, 0 if it has not.
func (r *rate) wait(kind Kind, now time.Duration) time.Duration {
	calls, limit := r.calls[kind], r.max[kind]
	for len(calls) > 0 && now-calls[0] >= window {
		calls = calls[1:]
	}
	r.calls[kind] = calls
	if excess := len(calls) - limit; limit > 0 && excess >= 0 {
		return calls[excess] + window - now
	}
	return 0
}
