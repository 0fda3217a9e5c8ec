package wire

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// receive takes a request or notification, on the goroutine that reads. It says
// whether that goroutine still has the lead.
func (c *Conn) receive(m *message) (leads bool) {
	req := Request{Method: m.method, Params: m.params, ID: m.id, Notification: m.id == ""}
	switch {
	case !req.Notification:
		return c.request(req)
	case req.Method == "$/cancelRequest":
		c.cancelRequest(req.Params)
	default:
		ctx := context.WithValue(c.base, taskKey{}, onReadLoop)
		if _, err := c.invoke(ctx, &req); err != nil {
			c.o.Logf("%s: %v", req.Method, err)
		}
	}
	return true
}

func (c *Conn) request(req Request) (leads bool) {
	if c.overloaded() {
		c.reply(errorFrame(req.ID, Errorf(CodeBusy, "%d bytes of replies wait unread, read them before you send more", c.out.load())), false)
		return true
	}
	t := &task{Request: req, inline: c.o.Inline(req.Method), ahead: c.o.Ahead(req.Method)}
	ctx, cancel := context.WithCancel(c.base)
	t.cancel = cancel
	t.ctx = &taskContext{Context: ctx, conn: c, task: t}
	here, bad := c.tasks.add(t, c.in.alone())
	switch {
	case bad != nil:
		cancel()
		c.reply(errorFrame(req.ID, bad), false)
	case t.inline:
		c.tasks.runInline(t)
	case here:
		return c.tasks.lead(t, c.in.lead)
	}
	return true
}

// handle runs a request's handler and makes its answer.
func (c *Conn) handle(t *task) *frame {
	if t.ctx.Err() != nil {
		return errorFrame(t.ID, cancelled)
	}
	body, err := c.invoke(t.ctx, &t.Request)
	if err != nil {
		return errorFrame(t.ID, replyError(t.ctx, err))
	}
	return resultFrame(t.ID, body)
}

// invoke calls the handler and encodes its result. It turns a panic of either
// into an error: one broken tool must not take the others' unsaved work along.
func (c *Conn) invoke(ctx context.Context, req *Request) (body [][]byte, err error) {
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
	body, err = encodePieces(result)
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
		c.reply(errorFrame(t.ID, cancelled), false)
	}
}

// CancelRequests ends every request of the peer that runs or waits, as if it had sent a
// $/cancelRequest for each. Those that are handled inline go on.
func (c *Conn) CancelRequests() {
	for _, t := range c.tasks.cancelAll() {
		c.reply(errorFrame(t.ID, cancelled), false)
	}
}

// refuse answers a frame that holds no message we take.
func (c *Conn) refuse(r *refusal) {
	c.reply(errorFrame(r.id, &Error{Code: r.code, Message: r.reason}), false)
}

// reply sends an answer. If mayWait is true and nobody writes, the caller's
// goroutine does, which saves a switch to another one.
func (c *Conn) reply(f *frame, mayWait bool) {
	if c.out.load() > 2*c.o.WriteBudget {
		c.writerFailed(ErrBacklog)
		return
	}
	lead, err := c.transmit(f, func() error {
		return c.rpc.SendResponse(context.Background(), &jsonrpc2.Response{})
	})
	if err != nil {
		return // the connection is gone, and who asked with it
	}
	c.write(lead, mayWait)
}

// taskContext is a request's context. It knows its task without the cost of a
// context value.
type taskContext struct {
	context.Context
	conn *Conn
	task *task
}

type taskKey struct{}

// onReadLoop stands for the task that a notification does not have.
var onReadLoop = &taskContext{task: &task{inline: true}}

func (t *taskContext) Value(key any) any {
	if key == (taskKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// Waiting tells the connection, whose handler has the context ctx, that the
// handler now waits for a person or another process: until resume is called its
// place among Options.Workers is free for other requests. Call does so by itself.
func Waiting(ctx context.Context) (resume func()) {
	t, ok := ctx.Value(taskKey{}).(*taskContext)
	if !ok || t.task.inline {
		return func() {}
	}
	t.conn.in.lead.Pass(&t.task.turn)
	t.conn.tasks.park(t.task)
	return sync.OnceFunc(func() { t.conn.tasks.resume(t.task) })
}
