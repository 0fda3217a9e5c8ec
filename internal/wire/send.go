package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// transmit sends f by way of jsonrpc2. If lead is true the caller must call
// write.
func (c *Conn) transmit(f *frame, via func() error) (lead bool, err error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.codec.out, c.codec.lead = f, false
	if err := via(); err != nil {
		if errors.Is(err, jsonrpc2.ErrClosed) {
			err = ErrClosed
		}
		return false, err
	}
	return c.codec.lead, nil
}

// write sees to it that what was queued is written.
func (c *Conn) write(lead, mayWait bool) {
	switch {
	case lead && mayWait:
		c.out.drain()
	case lead && !c.out.drainNow():
		go c.out.drain()
	}
}

func (c *Conn) overloaded() bool { return c.out.load() > c.o.WriteBudget }

// Call sends a request and waits for its result, which is decoded into result
// unless that is nil; a *json.RawMessage or *Raw gets it as it came. An error of
// the peer is an *Error. When ctx ends first, the peer is sent $/cancelRequest,
// ctx.Err() is returned at once and a later reply is ignored.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, result, (*Conn).await)
}

// CallToTheEnd is Call for what stays with the peer after it was cancelled, such as
// a box on a screen: it returns only with the reply, or when the connection ends.
func (c *Conn) CallToTheEnd(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, result, (*Conn).awaitReply)
}

func (c *Conn) call(ctx context.Context, method string, params, result any, await func(*Conn, context.Context, *reply, uint64) error) error {
	wait, err := c.begin(ctx, method, params, await)
	if err != nil {
		return err
	}
	return wait(result)
}

// Begin is the first half of a Call: the request is queued when it returns, and wait,
// which must be called, waits for the result. What is sent after Begin comes after the
// request.
func (c *Conn) Begin(ctx context.Context, method string, params any) (wait func(result any) error, err error) {
	return c.begin(ctx, method, params, (*Conn).await)
}

func (c *Conn) begin(ctx context.Context, method string, params any, await func(*Conn, context.Context, *reply, uint64) error) (wait func(result any) error, err error) {
	if t, ok := ctx.Value(taskKey{}).(*taskContext); ok && t.task.inline {
		return nil, fmt.Errorf("%s was called by a handler on the read loop, where its reply could never be read", method)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, err := encodeParams(method, params)
	if err != nil {
		return nil, err
	}
	if c.overloaded() {
		return nil, ErrBacklog
	}
	id := c.seq.Add(1)
	slot := c.calls.open(id)
	lead, err := c.transmit(requestFrame(id, method, body), func() error {
		_, err := c.rpc.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
		return err
	})
	if err != nil {
		c.calls.close(id)
		return nil, err
	}
	c.write(lead, false)
	return func(result any) error {
		defer c.calls.close(id)
		if err := await(c, ctx, slot, id); err != nil {
			return err
		}
		return slot.decode(result)
	}, nil
}

func encodeParams(method string, params any) ([]byte, error) {
	if params == nil {
		return nil, nil
	}
	body, err := encode(params)
	if err != nil {
		return nil, fmt.Errorf("the parameters of %s cannot be marshalled: %w", method, err)
	}
	return body, nil
}

// await waits for the reply to the call id.
func (c *Conn) await(ctx context.Context, slot *reply, id uint64) error {
	defer Waiting(ctx)()
	if c.o.Alert > 0 {
		watchFor(c.rwc, c.o.Alert)
	}
	select {
	case <-slot.come:
		return nil
	case <-ctx.Done():
		_ = c.Notify("$/cancelRequest", Raw(fmt.Appendf(nil, `{"id":%d}`, id)))
		return ctx.Err()
	case <-c.base.Done():
	}
	select {
	case <-slot.come: // it came first
		return nil
	default:
		return ErrClosed
	}
}

// awaitReply goes on waiting when it has told the peer that ctx ended.
func (c *Conn) awaitReply(ctx context.Context, slot *reply, id uint64) error {
	err := c.await(ctx, slot, id)
	if err != nil && err == ctx.Err() { //nolint:errorlint // await gives it as it is
		return c.await(context.WithoutCancel(ctx), slot, id)
	}
	return err
}

// Notify queues a notification. It never waits for the peer; ErrBacklog says
// that it was not queued because too much is unread.
func (c *Conn) Notify(method string, params any) error {
	body, err := encodeParams(method, params)
	if err != nil {
		return err
	}
	if c.overloaded() {
		return ErrBacklog
	}
	lead, err := c.transmit(notificationFrame(method, body), func() error {
		return c.rpc.Notify(context.Background(), method, nil)
	})
	if err != nil {
		return err
	}
	c.write(lead, false)
	return nil
}

// Progress queues a $/progress notification. While it waits unwritten, a
// TextChunk is joined to the waiting one of the same token and stream, and
// another value replaces the waiting one of the same token and key. A value
// without a key is never replaced: when the peer does not read, ErrBacklog says
// that it was not queued. See Options.WriteBudget.
func (c *Conn) Progress(token, value any, key string) error {
	tokenJSON, err := encode(token)
	if err != nil {
		return fmt.Errorf("the progress token cannot be marshalled: %w", err)
	}
	if text, ok := asChunk(value); ok {
		lead, err := c.out.progressText(tokenJSON, text)
		c.write(lead, false)
		return err
	}
	body, err := encode(value)
	if err != nil {
		return fmt.Errorf("the progress cannot be marshalled: %w", err)
	}
	params := append([]byte(`{"token":`), tokenJSON...)
	params = append(params, `,"value":`...)
	params = append(append(params, body...), '}')
	f := notificationFrame("$/progress", params)
	if key != "" {
		f.key = string(tokenJSON) + "\x00value\x00" + key
	}
	lead, err := c.out.progressValue(f)
	c.write(lead, false)
	return err
}

func asChunk(value any) (TextChunk, bool) {
	switch v := value.(type) {
	case TextChunk:
		return v, true
	case *TextChunk:
		return *v, true
	}
	return TextChunk{}, false
}

// Writable waits until the peer has read so much that a quarter of the write
// budget waits at most. What streams a large answer calls it between pieces.
func (c *Conn) Writable(ctx context.Context) error { return c.Unread(ctx, c.o.WriteBudget/4) }

// Unread waits until the peer has read so much that so many bytes wait at most.
func (c *Conn) Unread(ctx context.Context, most int) error {
	for {
		load, change, err := c.out.watch()
		if err != nil || load <= most {
			return err
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// calls are the payloads of the replies that our calls wait for. That a reply
// has come is jsonrpc2's to tell.
type calls struct {
	mu    sync.Mutex
	slots map[uint64]*reply
}

// reply is written by the reader, which then closes come.
type reply struct {
	result json.RawMessage
	err    error
	come   chan struct{}
}

func (c *calls) open(id uint64) *reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	slot := &reply{come: make(chan struct{})}
	c.slots[id] = slot
	return slot
}

func (c *calls) close(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.slots, id)
}

// fill keeps a reply for the call that waits for it.
func (c *calls) fill(id uint64, result json.RawMessage, err error) (waiting bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slot := c.slots[id]
	if slot == nil {
		return false
	}
	slot.result, slot.err = result, err
	close(slot.come)
	delete(c.slots, id)
	return true
}

// answer reads what a message that is no request answers.
func (m *message) answer() (json.RawMessage, error) {
	switch {
	case m.fail != nil:
		return nil, decodeError(m.fail)
	case m.result != nil:
		return m.result, nil
	}
	return nil, Errorf(CodeInvalidRequest, "the peer answered with neither result nor error")
}

// replied takes a reply.
func (c *Conn) replied(m *message) {
	id := replyID(m.id)
	result, err := m.answer()
	waiting := c.calls.fill(id, result, err)
	if waiting {
		runtime.Gosched() // who waited goes on here and now, not when another thread has woken
	}
	switch {
	case waiting, id > 0 && id <= c.seq.Load() && (m.result != nil || m.fail != nil):
		c.codec.answered(id) // also of a call that gave up waiting
	case m.result == nil && m.fail == nil:
		c.refuse(&refusal{id: m.id, code: CodeInvalidRequest, reason: "the message has neither a method nor a result"})
	case m.id == "" && m.fail != nil:
		c.o.Logf("the peer reports: %v", decodeError(m.fail))
	default:
		c.o.Logf("a reply with the unknown id %.64s was ignored", m.id)
	}
}

// rejected answers a message that we do not take. If it is a reply, the call
// that waits for it fails instead of waiting for ever.
func (c *Conn) rejected(m *message, bad *refusal) {
	id := replyID(m.id)
	if m.answers && !m.hasMethod && c.calls.fill(id, nil, Errorf(bad.code, "the reply was refused: %s", bad.reason)) {
		c.codec.answered(id)
		return
	}
	c.refuse(bad)
}

func (r *reply) decode(result any) error {
	if r.err != nil {
		return r.err
	}
	switch into := result.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*into = r.result
		return nil
	case *Raw:
		*into = Raw(r.result)
		return nil
	}
	return json.Unmarshal(r.result, result)
}
