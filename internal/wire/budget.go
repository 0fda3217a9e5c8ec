package wire

import "sync"

// Budget is how many bytes of requests several connections may hold at once: what their
// peers sent and is not answered yet. It is what a flood over many connections meets, of
// which each keeps to its own bounds.
type Budget struct {
	limit int

	mu   sync.Mutex // guards held, and that of each share
	held int
}

// Requests is the budget of this process for what agents and the editor ask of it.
var Requests = NewBudget(12 << 20)

// NewBudget makes a budget of so many bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: limit} }

// small is a request for which there is room when there is none for larger ones: most of
// what is asked is that small, and a person asks nothing else.
const small = 16 << 10

// share is one connection's part of a budget.
type share struct {
	budget *Budget // nil: there is no limit
	held   int
}

// take asks for room. One connection gets half of it at most, or whatever nobody else has
// when it holds nothing.
func (s *share) take(n int) bool {
	b := s.budget
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limit
	if n <= small {
		limit *= 2
	}
	if b.held > 0 && b.held+n > limit || s.held > 0 && s.held+n > limit/2 {
		return false
	}
	b.held, s.held = b.held+n, s.held+n
	return true
}

func (s *share) give(n int) {
	if s.budget == nil || n == 0 {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.held, s.held = s.budget.held-n, s.held-n
}

const noRoom = "the requests that wait for an answer hold as much memory as they may; send this one again when some are answered, or send less at once"
