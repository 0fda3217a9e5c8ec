package wire

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Handle implements jsonrpc2.Handler, which calls it on the goroutine that reads: for one
// message after the other, in the order of their arrival.
func (c *Conn) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	req := Request{Method: r.Method, Notification: r.Notif}
	if r.Params != nil && string(*r.Params) != "null" {
		req.Params = *r.Params
	}
	switch {
	case !r.Notif:
		id, _ := json.Marshal(r.ID) // a number or a string
		req.ID = string(id)
		c.request(r.ID, req)
	case req.Method == "$/cancelRequest":
		c.cancelRequest(req.Params)
	default:
		ctx := context.WithValue(c.base, taskKey{}, onReadLoop)
		if _, err := c.invoke(ctx, &req); err != nil {
			c.o.Logf("%s: %v", req.Method, err)
		}
	}
}

func (c *Conn) request(id jsonrpc2.ID, req Request) {
	if c.overloaded() {
		c.replyError(id, Errorf(CodeBusy, "%d bytes of replies wait unread, read them before you send more", c.out.load()))
		return
	}
	t := &task{Request: req, id: id, inline: c.o.Inline(req.Method), ahead: c.o.Ahead(req.Method)}
	ctx, cancel := context.WithCancel(c.base)
	t.cancel = cancel
	t.ctx = context.WithValue(ctx, taskKey{}, &taskContext{conn: c, task: t})
	if bad := c.tasks.add(t); bad != nil {
		cancel()
		c.replyError(id, bad)
	}
}

// run runs a request's handler and returns what sends its answer.
func (c *Conn) run(t *task) (answer func()) {
	if t.ctx.Err() != nil {
		return func() { c.replyError(t.id, cancelled) }
	}
	body, err := c.invoke(t.ctx, &t.Request)
	if err != nil {
		e := replyError(t.ctx, err)
		return func() { c.replyError(t.id, e) }
	}
	return func() { c.reply(&jsonrpc2.Response{ID: t.id, Result: &body}) }
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
	body, err = encode(result)
	if err != nil {
		c.o.Logf("%s: the result cannot be marshalled: %v", req.Method, err)
		return nil, Errorf(CodeInternal, "the result of %s cannot be marshalled: %v", req.Method, err)
	}
	return body, nil
}

func (c *Conn) cancelRequest(params json.RawMessage) {
	var p struct {
		ID *jsonrpc2.ID `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || p.ID == nil {
		return
	}
	if t := c.tasks.cancel(*p.ID); t != nil {
		c.replyError(t.id, cancelled)
	}
}

// CancelRequests ends every request of the peer that runs or waits, as if it had sent a
// $/cancelRequest for each. Those that are handled inline go on.
func (c *Conn) CancelRequests() {
	for _, t := range c.tasks.cancelAll() {
		c.replyError(t.id, cancelled)
	}
}

// refuse answers a frame that holds no message we take, below jsonrpc2, whose ids cannot
// be null.
func (c *Conn) refuse(id string, code int64, reason string) {
	if id == "" {
		id = "null"
	}
	_ = c.out.push(errorFrame(id, &jsonrpc2.Error{Code: code, Message: reason})) // see reply
}

// taskContext is in a request's context.
type taskContext struct {
	conn *Conn
	task *task
}

type taskKey struct{}

// onReadLoop stands for the task that a notification does not have.
var onReadLoop = &taskContext{task: &task{inline: true}}

// Waiting tells the connection, whose handler has the context ctx, that the
// handler now waits for a person or another process: until resume is called its
// place among Options.Workers is free for other requests. Call does so by itself.
func Waiting(ctx context.Context) (resume func()) {
	t, ok := ctx.Value(taskKey{}).(*taskContext)
	if !ok || t.task.inline {
		return func() {}
	}
	t.conn.tasks.park(t.task)
	return sync.OnceFunc(func() { t.conn.tasks.resume(t.task) })
}
