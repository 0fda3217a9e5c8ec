// Package lead shares the duty to read a stream among goroutines.
//
// A server that reads requests on one goroutine and answers them on others pays
// for each request with two switches between threads, which is more than a short
// request takes. Here the goroutine that has the lead answers a request itself
// and then reads on. Should the answer take longer than a moment, or wait for
// something (Pass), another goroutine takes the lead over, so that the stream is
// never left unread. (Schmidt and others describe it as Leader/Followers.)
package lead

import (
	"sync/atomic"
	"time"
)

// moment is how long a turn may keep the stream unread, twice at most. Shorter
// ones would be watched at a cost that shows.
const moment = 5 * time.Millisecond

// Lead is held by one goroutine at a time: first by the one that calls Begin
// first, then by the one that take runs on.
type Lead struct {
	take func() // reads on, as long as it leads

	current atomic.Pointer[Turn]
	begun   atomic.Bool // since the last tick
	armed   atomic.Bool // timer is running
	stopped atomic.Bool
	timer   *time.Timer
	seen    *Turn // current at the last tick
}

// Turn is a piece of work of the goroutine that leads. Its zero value has not
// begun; it serves once.
type Turn struct{ state atomic.Int32 }

const (
	leading int32 = 1 + iota
	passed
	ended
)

// New makes a lead. take is run on a new goroutine whenever the lead is passed on.
func New(take func()) *Lead {
	l := &Lead{take: take}
	l.timer = time.AfterFunc(moment, l.tick)
	l.timer.Stop()
	return l
}

// Begin says that the goroutine that leads begins a turn.
func (l *Lead) Begin(t *Turn) {
	t.state.Store(leading)
	l.current.Store(t)
	l.begun.Store(true)
	l.arm()
}

// Pass hands the lead on if t is a turn that has it. Anybody may call it.
func (l *Lead) Pass(t *Turn) {
	if t.state.CompareAndSwap(leading, passed) {
		l.current.CompareAndSwap(t, nil)
		go l.take()
	}
}

// End says that the turn is over, and whether its goroutine still leads.
func (l *Lead) End(t *Turn) (leads bool) {
	if !t.state.CompareAndSwap(leading, ended) {
		return false
	}
	l.current.CompareAndSwap(t, nil)
	return true
}

// Stop ends the watch over the turns; the stream has ended.
func (l *Lead) Stop() {
	l.stopped.Store(true)
	l.timer.Stop()
}

func (l *Lead) arm() {
	if l.armed.CompareAndSwap(false, true) && !l.stopped.Load() {
		l.timer.Reset(moment)
	}
}

// tick passes the lead on from a turn that had it at the last tick already. With
// no turn since then it rests, so that an idle program stays asleep.
func (l *Lead) tick() {
	t := l.current.Load()
	if t != nil && t == l.seen {
		l.Pass(t)
		t = nil
	}
	l.seen = t
	if t != nil || l.begun.Swap(false) {
		if !l.stopped.Load() {
			l.timer.Reset(moment)
		}
		return
	}
	l.armed.Store(false)
	if l.begun.Load() {
		l.arm()
	}
}
