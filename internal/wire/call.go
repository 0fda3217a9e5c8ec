package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	wait, err := c.begin(ctx, method, params)
	if err != nil {
		return err
	}
	if err := wait(ctx, result); err == nil || ctx.Err() == nil {
		return err
	}
	return wait(context.WithoutCancel(ctx), result)
}

// Begin is the first half of a Call: the request is queued when it returns, and wait,
// which must be called, waits for the result. What is sent after Begin comes after the
// request.
func (c *Conn) Begin(ctx context.Context, method string, params any) (wait func(result any) error, err error) {
	waitWith, err := c.begin(ctx, method, params)
	return func(result any) error { return waitWith(ctx, result) }, err
}

func (c *Conn) begin(ctx context.Context, method string, params any) (wait func(ctx context.Context, result any) error, err error) {
	if t, ok := ctx.Value(taskKey{}).(*task); ok && t.inline {
		return nil, fmt.Errorf("%s was called by a handler on the read loop, where its reply could never be read", method)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := c.calls.Add(1)
	var call jsonrpc2.Waiter
	var payload json.RawMessage
	c.results.Store(id, &payload)
	err = c.send(method, params, func() (err error) {
		call, err = c.rpc.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
		return err
	})
	if err != nil {
		c.results.Delete(id)
		return nil, err
	}
	return func(ctx context.Context, result any) error {
		defer Waiting(ctx)()
		err := call.Wait(ctx, nil)
		var remote *jsonrpc2.Error
		switch {
		case err == nil:
			switch into := result.(type) {
			case nil:
				return nil
			case *Raw:
				*into = payload
				return nil
			}
			return json.Unmarshal(payload, result)
		case err == ctx.Err(): //nolint:errorlint // Wait gives it as it is
			_ = c.Notify("$/cancelRequest", map[string]uint64{"id": id})
		case errors.Is(err, jsonrpc2.ErrClosed):
			return ErrClosed
		case errors.As(err, &remote):
			failed := &Error{Code: remote.Code, Message: remote.Message}
			if remote.Data != nil {
				failed.Data = *remote.Data
			}
			return failed
		}
		return err
	}, nil
}

// send has jsonrpc2 send a message with params; nil: without.
func (c *Conn) send(method string, params any, rpc func() error) error {
	var body json.RawMessage
	var err error
	if params != nil {
		if body, err = encode(c.o.Outgoing(params)); err != nil {
			return fmt.Errorf("the parameters of %s cannot be marshalled: %w", method, err)
		}
	}
	if c.out.load() > c.o.WriteBudget {
		return ErrBacklog
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	c.params = body
	err = rpc()
	c.params = nil
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return ErrClosed
	}
	return err
}

// Notify queues a notification. It never waits for the peer; ErrBacklog says
// that it was not queued because too much is unread.
func (c *Conn) Notify(method string, params any) error {
	return c.send(method, params, func() error { return c.rpc.Notify(context.Background(), method, nil) })
}

// Progress queues a $/progress notification. While it waits unwritten, a
// TextChunk is joined to the waiting one of the same token and stream, and
// another value replaces the waiting one of the same token and key. A value
// without a key is never replaced: when the peer does not read, ErrBacklog says
// that it was not queued. See Options.WriteBudget.
//
// As it may change until it is written, it goes to the writer past jsonrpc2.
func (c *Conn) Progress(token, value any, key string) error {
	tokenJSON, err := encode(token)
	if err != nil {
		return fmt.Errorf("the progress token cannot be marshalled: %w", err)
	}
	if text, ok := value.(TextChunk); ok {
		return c.out.progressText(tokenJSON, text)
	}
	body, err := encode(value)
	if err != nil {
		return fmt.Errorf("the progress cannot be marshalled: %w", err)
	}
	if key != "" {
		key = string(tokenJSON) + "\x00value\x00" + key
	}
	return c.out.progressValue(newFrame(progressHead(tokenJSON), body, []byte("}}")), key)
}

func progressHead(token json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/progress","params":{"token":%s,"value":`, token)
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
