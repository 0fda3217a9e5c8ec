package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// Call sends a request and waits for its result, which is decoded into result
// unless that is nil; a *json.RawMessage or *Raw gets it as it came. An error of
// the peer is an *Error. When ctx ends first, the peer is sent $/cancelRequest,
// ctx.Err() is returned at once and a later reply is ignored.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	wait, err := c.Begin(ctx, method, params)
	if err != nil {
		return err
	}
	return wait(result)
}

// CallToTheEnd is Call for what stays with the peer after it was cancelled, such as
// a box on a screen: it returns only with the reply, or when the connection ends.
func (c *Conn) CallToTheEnd(ctx context.Context, method string, params, result any) error {
	call, id, err := c.dispatch(ctx, method, params)
	if err != nil {
		return err
	}
	defer Waiting(ctx)()
	stop := context.AfterFunc(ctx, func() { c.cancelCall(id) })
	defer stop()
	return c.await(context.WithoutCancel(ctx), call, result)
}

// Begin is the first half of a Call: the request is queued when it returns, and wait,
// which must be called, waits for the result. What is sent after Begin comes after the
// request.
func (c *Conn) Begin(ctx context.Context, method string, params any) (wait func(result any) error, err error) {
	call, id, err := c.dispatch(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return func(result any) error {
		defer Waiting(ctx)()
		err := c.await(ctx, call, result)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			c.cancelCall(id)
		}
		return err
	}, nil
}

func (c *Conn) dispatch(ctx context.Context, method string, params any) (call jsonrpc2.Waiter, id uint64, err error) {
	if t, ok := ctx.Value(taskKey{}).(*taskContext); ok && t.task.inline {
		return call, 0, fmt.Errorf("%s was called by a handler on the read loop, where its reply could never be read", method)
	}
	if err := ctx.Err(); err != nil {
		return call, 0, err
	}
	if c.overloaded() {
		return call, 0, ErrBacklog
	}
	id = c.seq.Add(1)
	call, err = c.rpc.DispatchCall(ctx, method, params, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	return call, id, sendError("the parameters of "+method, err)
}

// asked says whether a call of ours has had this id.
func (c *Conn) asked(id string) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return err == nil && n > 0 && n <= c.seq.Load()
}

func (c *Conn) cancelCall(id uint64) {
	_ = c.Notify("$/cancelRequest", map[string]uint64{"id": id}) // a peer that is gone has nothing to cancel
}

// await waits for a reply until ctx or the connection ends.
func (c *Conn) await(ctx context.Context, call jsonrpc2.Waiter, result any) error {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.base, cancel)()
	var raw json.RawMessage
	err := call.Wait(both, &raw)
	var remote *jsonrpc2.Error
	switch {
	case errors.As(err, &remote):
		return errorOf(remote)
	case errors.Is(err, jsonrpc2.ErrClosed), err != nil && ctx.Err() == nil && both.Err() != nil:
		return ErrClosed
	case err != nil || result == nil:
		return err
	}
	if into, ok := result.(*Raw); ok {
		*into = Raw(raw)
		return nil
	}
	return json.Unmarshal(raw, result)
}

// Notify queues a notification. It never waits for the peer; ErrBacklog says
// that it was not queued because too much is unread.
func (c *Conn) Notify(method string, params any) error {
	if c.overloaded() {
		return ErrBacklog
	}
	return sendError("the parameters of "+method, c.rpc.Notify(context.Background(), method, params))
}

// sendError is what became of something that jsonrpc2 was to marshal and send.
func sendError(what string, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, jsonrpc2.ErrClosed):
		return ErrClosed
	}
	return fmt.Errorf("%s cannot be marshalled: %w", what, err)
}

// Progress queues a $/progress notification. While it waits unwritten, a
// TextChunk is joined to the waiting one of the same token and stream, and
// another value replaces the waiting one of the same token and key. A value
// without a key is never replaced: when the peer does not read, ErrBacklog says
// that it was not queued. See Options.WriteBudget. It goes past jsonrpc2, which
// cannot change what it has sent.
func (c *Conn) Progress(token, value any, key string) error {
	tokenJSON, err := encode(token)
	if err != nil {
		return fmt.Errorf("the progress token cannot be marshalled: %w", err)
	}
	if text, ok := asChunk(value); ok {
		return c.out.progressText(tokenJSON, text)
	}
	body, err := encode(value)
	if err != nil {
		return fmt.Errorf("the progress cannot be marshalled: %w", err)
	}
	f := progressFrame(tokenJSON, body)
	if key != "" {
		f.key = string(tokenJSON) + "\x00value\x00" + key
	}
	return c.out.progressValue(f)
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
