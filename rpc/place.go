package rpc

import (
	"context"
	"slices"
	"sync"
	"time"
)

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

func (b *box) isLost() bool {
	select {
	case <-b.lost:
		return true
	default:
		return false
	}
}

// take waits for the place. A box that is opened anew comes before all others.
func (p *boxSlot) take(ctx context.Context, owner string, anew bool) (*box, error) {
	b := &box{owner: owner, turn: make(chan struct{}), lost: make(chan struct{})}
	p.enter(b, anew)
	select {
	case <-b.turn:
		return b, nil
	case <-ctx.Done():
		p.leave(b)
		return nil, ctx.Err()
	}
}

func (p *boxSlot) enter(b *box, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first {
		p.line = slices.Insert(p.line, 0, b)
	} else {
		p.line = append(p.line, b)
	}
	p.next()
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

// end notes that a box is of no use any more, although it may still be seen. Editors
// that close it say so; there are some that never do.
func (p *boxSlot) end(b *box) {
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
	close(b.lost) // it comes back by take, before all others
	return true
}

// next needs the lock.
func (p *boxSlot) next() {
	if p.open == nil && len(p.line) > 0 {
		p.open, p.line = p.line[0], p.line[1:]
		close(p.open.turn)
	}
}
