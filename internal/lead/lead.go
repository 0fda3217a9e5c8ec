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

// Lead is held by one goroutine at a time: first by the one that calls Run, then by
// those that it is passed on to, which run take too.
type Lead struct {
	take func() // reads on, as long as it leads

	idle chan struct{} // wakes a goroutine that lost the lead
	rest atomic.Int32  // those that wait for it
	done chan struct{} // closed by Stop

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

// mostIdle is how many goroutines that lost the lead are kept for when it is passed on
// again: a new one's stack would have to grow first, while somebody waits.
const mostIdle = 2

// New makes a lead. take reads until its goroutine has lost the lead, or the stream ends.
func New(take func()) *Lead {
	l := &Lead{take: take, idle: make(chan struct{}), done: make(chan struct{})}
	l.timer = time.AfterFunc(moment, l.tick)
	l.timer.Stop()
	return l
}

// Run takes the lead, and takes it again whenever it is needed.
func (l *Lead) Run() {
	for {
		l.take()
		if l.rest.Add(1) > mostIdle {
			l.rest.Add(-1)
			return
		}
		select {
		case <-l.idle:
			l.rest.Add(-1)
		case <-l.done:
			return
		}
	}
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
		select {
		case l.idle <- struct{}{}:
		default:
			go l.Run()
		}
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
	if !l.stopped.Swap(true) {
		close(l.done)
	}
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
