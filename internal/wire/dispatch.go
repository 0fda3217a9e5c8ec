package wire

import (
	"context"
	"sync"
	"time"
)

// task is one request of the peer, from its arrival to its answer.
type task struct {
	Request
	conn   *Conn
	ctx    context.Context
	cancel context.CancelFunc
	// inline tasks run before anything else is read, and must not wait for the peer.
	inline bool
	ahead  bool // it waits for no place
	held   int  // of the share; guarded by dispatcher.mu

	// Guarded by dispatcher.mu.
	dropped bool // answered while it waited in the queue
	started bool
	parked  int // how many waits of its handler gave its place up
}

// dispatcher runs the peer's requests: at most workers at once, the others in
// the order of their arrival. Whoever takes a task out of inflight answers it.
type dispatcher struct {
	workers, queueLen, queueBytes int
	share                         *share

	mu       sync.Mutex
	inflight map[string]*task
	queue    []*task
	waiting  int // tasks in queue that are not dropped
	bytes    int // their parameters
	running  int // goroutines that hold one of the workers' places
	active   int // tasks whose handler has not returned, parked ones included
	closed   bool
	idle     chan struct{} // closed when closed and nothing is active
}

func newDispatcher(o Options, s *share) *dispatcher {
	return &dispatcher{
		workers: o.Workers, queueLen: o.Queue, queueBytes: 4 * o.MaxFrame,
		share:    s,
		inflight: map[string]*task{},
		idle:     make(chan struct{}),
	}
}

// add runs a task or refuses it. An inline one has run when it returns.
func (d *dispatcher) add(t *task) (refused *Error) {
	start, refused := d.admit(t)
	switch {
	case !start:
	case t.inline:
		d.runOne(t)
	default:
		go d.work(t)
	}
	return refused
}

// admit says whether a task may start. If it is not refused either it is in the queue.
func (d *dispatcher) admit(t *task) (start bool, refused *Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return false, cancelled
	case d.inflight[t.ID] != nil:
		return false, Errorf(CodeInvalidRequest, "a request with the id %s is running already, use a new id", t.ID)
	case t.ahead:
	case len(d.inflight) >= d.workers+d.queueLen, d.waiting > 0 && d.bytes+len(t.Params) > d.queueBytes:
		return false, Errorf(CodeBusy, "%d requests are waiting already, send this one again when some are answered", len(d.inflight))
	}
	d.inflight[t.ID] = t
	if t.inline || t.ahead || d.running < d.workers {
		d.startLocked(t)
		return true, nil
	}
	d.queue = append(d.queue, t)
	d.waiting++
	d.bytes += len(t.Params)
	return false, nil
}

func (d *dispatcher) startLocked(t *task) {
	t.started = true
	d.active++
	if !t.inline {
		d.running++
	}
}

// work runs t and then what waits.
func (d *dispatcher) work(t *task) {
	for t != nil {
		d.runOne(t)
		t = d.next()
	}
}

// runOne runs a task and answers it. Before that its id is free again, so that the peer
// can use it at once.
func (d *dispatcher) runOne(t *task) {
	result, failed := t.conn.handle(t)
	d.forget(t)
	t.conn.reply(t.ID, result, failed)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active--
	d.checkIdle()
}

func (d *dispatcher) forget(t *task) {
	t.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.inflight, t.ID)
	d.release(t)
}

func (d *dispatcher) release(t *task) {
	d.share.give(t.held)
	t.held = 0
}

// next gives the worker's place to the task that waits longest, or up.
func (d *dispatcher) next() *task {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	if d.running >= d.workers {
		return nil
	}
	return d.takeLocked()
}

func (d *dispatcher) takeLocked() *task {
	for len(d.queue) > 0 {
		t := d.queue[0]
		d.queue[0] = nil
		d.queue = d.queue[1:]
		if !t.dropped {
			d.waiting--
			d.bytes -= len(t.Params)
			d.startLocked(t)
			return t
		}
	}
	d.queue = nil
	return nil
}

// cancel ends the request with this id. It returns the task if it had not
// started; the caller answers it.
func (d *dispatcher) cancel(id string) *task {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.inflight[id]
	if t == nil {
		return nil
	}
	t.cancel()
	if t.started {
		return nil
	}
	d.dropLocked(t)
	return t
}

// cancelAll ends every request but those that are handled inline, and returns the tasks
// that had not started; the caller answers them.
func (d *dispatcher) cancelAll() (left []*task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.inflight {
		switch {
		case t.inline:
			continue
		case !t.started:
			d.dropLocked(t)
			left = append(left, t)
		}
		t.cancel()
	}
	return left
}

func (d *dispatcher) dropLocked(t *task) {
	delete(d.inflight, t.ID)
	t.dropped = true
	d.waiting--
	d.bytes -= len(t.Params)
	t.Params = nil
	d.release(t)
}

// close lets nothing start any more and returns the tasks that had not.
func (d *dispatcher) close() (left []*task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, t := range d.queue {
		if !t.dropped {
			d.dropLocked(t)
			left = append(left, t)
		}
	}
	d.queue = nil
	d.checkIdle()
	return left
}

func (d *dispatcher) checkIdle() {
	if d.closed && d.active == 0 {
		select {
		case <-d.idle:
		default:
			close(d.idle)
		}
	}
}

// wait waits until every handler has returned, at most for limit.
func (d *dispatcher) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-d.idle:
		return true
	case <-timer.C:
		return false
	}
}

// park gives t's place in the pool up while its handler waits for something
// other than the machine.
func (d *dispatcher) park(t *task) {
	d.mu.Lock()
	var next *task
	if t.parked++; t.parked == 1 {
		if d.running--; d.running < d.workers {
			next = d.takeLocked()
		}
	}
	d.mu.Unlock()
	if next != nil {
		go d.work(next)
	}
}

// resume takes the place again, one too many if need be: what has started
// never waits for what has not.
func (d *dispatcher) resume(t *task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.parked--; t.parked == 0 {
		d.running++
	}
}
