package wire

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// handler is jsonrpc2's handler. It is called on the goroutine that reads.
type handler struct{ conn *Conn }

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	c := h.conn
	req := Request{Method: r.Method, ID: r.ID.Str, Notification: r.Notif}
	if r.Params != nil {
		req.Params = *r.Params
	}
	switch {
	case !req.Notification:
		c.request(req)
	case req.Method == "$/cancelRequest":
		c.cancelRequest(req.Params)
	default:
		ctx := context.WithValue(c.base, taskKey{}, onReadLoop)
		if _, err := c.invoke(ctx, &req); err != nil {
			c.o.Logf("%s: %v", req.Method, err)
		}
	}
}

func (c *Conn) request(req Request) {
	if c.overloaded() {
		c.reply(req.ID, nil, Errorf(CodeBusy, "%d bytes of replies wait unread, read them before you send more", c.out.load()))
		return
	}
	t := &task{Request: req, conn: c, inline: c.o.Inline(req.Method), ahead: c.o.Ahead(req.Method)}
	if t.held, c.reading = c.reading, 0; t.held == 0 && !t.inline && !t.ahead {
		if t.held = len(req.Params); !c.share.take(t.held) {
			c.reply(req.ID, nil, Errorf(CodeBusy, noRoom))
			return
		}
	}
	held := t.held // once it is added, it is the task's
	ctx, cancel := context.WithCancel(c.base)
	t.ctx, t.cancel = context.WithValue(ctx, taskKey{}, t), cancel
	if bad := c.tasks.add(t); bad != nil {
		cancel()
		c.share.give(held)
		c.reply(req.ID, nil, bad)
	}
}

// handle runs a request's handler.
func (c *Conn) handle(t *task) (json.RawMessage, *Error) {
	if t.ctx.Err() != nil {
		return nil, cancelled
	}
	result, err := c.invoke(t.ctx, &t.Request)
	if err != nil {
		return nil, c.o.Outgoing(replyError(t.ctx, err)).(*Error) //nolint:forcetypeassert // it gives what it is given
	}
	return result, nil
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

func (c *Conn) cancelRequest(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, ok := canonicalID(p.ID)
	if !ok {
		return
	}
	if t := c.tasks.cancel(id); t != nil {
		c.reply(t.ID, nil, cancelled)
	}
}

// CancelRequests ends every request of the peer that runs or waits, as if it had sent a
// $/cancelRequest for each. Those that are handled inline go on.
func (c *Conn) CancelRequests() {
	for _, t := range c.tasks.cancelAll() {
		c.reply(t.ID, nil, cancelled)
	}
}

// reply answers the request with this id.
func (c *Conn) reply(id string, result json.RawMessage, err *Error) {
	if c.out.load() > 2*c.o.WriteBudget {
		c.writerFailed(ErrBacklog)
		return
	}
	r := &jsonrpc2.Response{ID: jsonrpc2.ID{Str: id, IsString: true}, Result: &result}
	if err != nil {
		r.Result, r.Error = nil, err.toWire()
	}
	_ = c.rpc.SendResponse(context.Background(), r) // else the connection is gone, and who asked with it
}

type taskKey struct{}

// onReadLoop stands for the task that a notification does not have.
var onReadLoop = &task{inline: true}

// inline says that ctx is that of a handler on the read loop.
func inline(ctx context.Context) bool {
	t, ok := ctx.Value(taskKey{}).(*task)
	return ok && t.inline
}

// Waiting tells the connection, whose handler has the context ctx, that the
// handler now waits for a person or another process: until resume is called its
// place among Options.Workers is free for other requests. Call does so by itself.
func Waiting(ctx context.Context) (resume func()) {
	t, ok := ctx.Value(taskKey{}).(*task)
	if !ok || t.inline {
		return func() {}
	}
	t.conn.tasks.park(t)
	return sync.OnceFunc(func() { t.conn.tasks.resume(t) })
}
