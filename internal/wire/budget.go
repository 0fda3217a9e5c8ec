package wire

import "sync"

// Budget is how many bytes of requests several connections may hold at once: what their
// peers sent and is not answered yet. It is what a flood over many connections meets, of
// which each keeps to its own bounds.
type Budget struct {
	limit int

	mu   sync.Mutex // guards held, and Conn.held of each connection
	held int
}

// Requests is the budget of this process for what agents and the editor ask of it.
var Requests = &Budget{limit: 12 << 20}

// small is a request for which there is room when there is none for larger ones: most of
// what is asked is that small, and a person asks nothing else.
const small = 16 << 10

// reserve asks for room for one of several connections, which holds so much already. It gets
// half of the budget at most, or whatever nobody else has when it holds nothing.
func (b *Budget) reserve(held *int, n int) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limit
	if n <= small {
		limit *= 2
	}
	if b.held > 0 && b.held+n > limit || *held > 0 && *held+n > limit/2 {
		return false
	}
	b.held, *held = b.held+n, *held+n
	return true
}

func (b *Budget) release(held *int, n int) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held, *held = b.held-n, *held-n
	}
}

const noRoom = "the requests that wait for an answer hold as much memory as they may; send this one again when some are answered, or send less at once"
