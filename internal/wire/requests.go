package wire

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// task is one request of the peer, from its arrival to its answer. Whoever takes it out
// of Conn.inflight answers it.
type task struct {
	Request
	conn   *Conn
	ctx    context.Context
	cancel context.CancelFunc
	// inline tasks run before anything else is read, and must not wait for the peer.
	inline bool
	ahead  bool // it waits for no worker
	held   int  // bytes of the budget
	parked int  // how many waits of its handler gave its worker up; guarded by Conn.mu
}

// Handle implements jsonrpc2.Handler. It is called on the goroutine that reads.
func (s *stream) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	c := s.conn
	req := Request{Method: r.Method, ID: r.ID.Str, Notification: r.Notif}
	if r.Params != nil {
		req.Params = *r.Params
	}
	switch {
	case !req.Notification:
		c.request(req)
	case req.Method == "$/cancelRequest":
		var p struct{ ID json.RawMessage }
		_ = json.Unmarshal(req.Params, &p)
		if id, ok := canonicalID(p.ID); ok {
			c.cancelWhere(func(t *task) bool { return t.ID == id })
		}
	default:
		ctx := context.WithValue(c.base, taskKey{}, onReadLoop)
		if _, err := c.invoke(ctx, &req); err != nil {
			c.o.Logf("%s: %v", req.Method, err)
		}
	}
}

// request runs a request, has it wait, or refuses it. An inline one has run when it returns.
func (c *Conn) request(req Request) {
	t := &task{Request: req, conn: c, inline: c.o.Inline(req.Method), ahead: c.o.Ahead(req.Method), held: c.taken}
	c.taken = 0
	ctx, cancel := context.WithCancel(c.base)
	t.ctx, t.cancel = context.WithValue(ctx, taskKey{}, t), cancel
	if refused := c.admit(t); refused != nil {
		cancel()
		c.o.Budget.release(&c.held, t.held)
		c.reply(t.ID, nil, refused)
	} else if t.inline {
		c.run(t)
	}
}

// admit starts a task, queues or refuses it.
func (c *Conn) admit(t *task) (refused *Error) {
	if load := c.out.load(); load > c.o.WriteBudget {
		return Errorf(CodeBusy, "%d bytes of replies wait unread, read them before you send more", load)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.base.Err() != nil:
		return cancelled
	case c.inflight[t.ID] != nil:
		return Errorf(CodeInvalidRequest, "a request with the id %s is running already, use a new id", t.ID)
	case t.ahead:
	case len(c.inflight) >= c.o.Workers+c.o.Queue:
		return Errorf(CodeBusy, "%d requests are waiting already, send this one again when some are answered", len(c.inflight))
	case t.held == 0 && !t.inline:
		if !c.o.Budget.reserve(&c.held, len(t.Params)) {
			return Errorf(CodeBusy, noRoom)
		}
		t.held = len(t.Params)
	}
	c.inflight[t.ID] = t
	switch {
	case t.inline:
		c.active.Add(1)
	case t.ahead, c.running < c.o.Workers:
		c.startLocked(t)
	default:
		c.queue = append(c.queue, t)
	}
	return nil
}

func (c *Conn) startLocked(t *task) {
	c.running++
	c.active.Add(1)
	go func() {
		c.run(t)
		c.freeWorker()
	}()
}

// freeWorker gives a worker up, to the request that waits longest.
func (c *Conn) freeWorker() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.running < c.o.Workers && len(c.queue) > 0 {
		t := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.startLocked(t)
	}
}

// run runs a task's handler and answers. Before that its id is free again, so that the peer
// can use it at once.
func (c *Conn) run(t *task) {
	defer c.active.Done()
	var result json.RawMessage
	err := t.ctx.Err()
	if err == nil {
		result, err = c.invoke(t.ctx, &t.Request)
	}
	var failed *Error
	switch {
	case err == nil:
	case errors.As(err, &failed):
	case errors.Is(err, context.Canceled), t.ctx.Err() != nil:
		failed = cancelled
	default:
		failed = &Error{Code: CodeInternal, Message: err.Error()}
	}
	if failed != nil {
		failed = c.o.Outgoing(failed).(*Error) //nolint:forcetypeassert // it gives what it is given
	}
	c.mu.Lock()
	c.forgetLocked(t)
	c.mu.Unlock()
	c.reply(t.ID, result, failed)
}

func (c *Conn) forgetLocked(t *task) {
	t.cancel()
	delete(c.inflight, t.ID)
	c.o.Budget.release(&c.held, t.held)
}

// invoke calls the handler and encodes its result. It turns a panic of either
// into an error: one broken tool must not take the others' unsaved work along.
func (c *Conn) invoke(ctx context.Context, req *Request) (body json.RawMessage, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			c.o.Logf("panic in %s: %v\n%s", req.Method, reason, debug.Stack())
			body, err = nil, Errorf(CodeInternal, "internal error in %s, the log says more", req.Method)
		}
	}()
	result, err := c.o.Handler(ctx, c, req)
	if err != nil || req.Notification {
		return nil, err
	}
	body, err = encode(c.o.Outgoing(result))
	if err != nil {
		c.o.Logf("%s: the result cannot be marshalled: %v", req.Method, err)
		return nil, Errorf(CodeInternal, "the result of %s cannot be marshalled: %v", req.Method, err)
	}
	return body, nil
}

// CancelRequests ends every request of the peer that runs or waits, as if it had sent a
// $/cancelRequest for each. Those that are handled inline go on.
func (c *Conn) CancelRequests() {
	c.cancelWhere(func(t *task) bool { return !t.inline })
}

// cancelWhere ends requests. One that has not started is answered here.
func (c *Conn) cancelWhere(match func(*task) bool) {
	var dropped []*task
	c.mu.Lock()
	for _, t := range c.inflight {
		if !match(t) {
			continue
		}
		t.cancel()
		if i := slices.Index(c.queue, t); i >= 0 {
			c.queue = slices.Delete(c.queue, i, i+1)
			c.forgetLocked(t)
			dropped = append(dropped, t)
		}
	}
	c.mu.Unlock()
	for _, t := range dropped {
		c.reply(t.ID, nil, cancelled)
	}
}

// reply answers the request with this id, which is JSON.
func (c *Conn) reply(id string, result json.RawMessage, failed *Error) {
	member := "result"
	if failed != nil {
		out := struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
			Data    any    `json:"data,omitempty"`
		}(*failed)
		member = "error"
		var err error
		if result, err = encode(out); err != nil {
			out.Data = nil // they cannot be marshalled
			result, _ = encode(out)
		}
	}
	_ = c.out.push(newFrame([]byte(`{"jsonrpc":"2.0","id":`+id+`,"`+member+`":`), result, []byte("}"))) // else the connection is gone, and who asked with it
	if c.out.load() > 2*c.o.WriteBudget {
		c.writerFailed(ErrBacklog)
	}
}

type taskKey struct{}

// onReadLoop stands for the task that a notification does not have.
var onReadLoop = &task{inline: true}

// Waiting tells the connection, whose handler has the context ctx, that the
// handler now waits for a person or another process: until resume is called its
// place among Options.Workers is free for other requests. Call does so by itself.
func Waiting(ctx context.Context) (resume func()) {
	t, ok := ctx.Value(taskKey{}).(*task)
	if !ok || t.inline {
		return func() {}
	}
	c := t.conn
	c.mu.Lock()
	t.parked++
	first := t.parked == 1
	c.mu.Unlock()
	if first {
		c.freeWorker()
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		// One too many if need be: what has started never waits for what has not.
		if t.parked--; t.parked == 0 {
			c.running++
		}
	})
}

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
