package wire

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

func (c *Conn) overloaded() bool { return c.out.load() > c.o.WriteBudget }

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
	call, err := c.begin(ctx, method, params)
	if err != nil {
		return err
	}
	if err := call.wait(ctx, result); err == nil || ctx.Err() == nil {
		return err
	}
	return call.wait(context.WithoutCancel(ctx), result)
}

// Begin is the first half of a Call: the request is queued when it returns, and wait,
// which must be called, waits for the result. What is sent after Begin comes after the
// request.
func (c *Conn) Begin(ctx context.Context, method string, params any) (wait func(result any) error, err error) {
	call, err := c.begin(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return func(result any) error { return call.wait(ctx, result) }, nil
}

// call is a request of ours.
type call struct {
	conn   *Conn
	id     uint64
	waiter jsonrpc2.Waiter
	result json.RawMessage // the stream puts it there
}

func (c *Conn) begin(ctx context.Context, method string, params any) (*call, error) {
	if inline(ctx) {
		return nil, fmt.Errorf("%s was called by a handler on the read loop, where its reply could never be read", method)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, err := c.encodeParams(method, params)
	if err != nil {
		return nil, err
	}
	if c.overloaded() {
		return nil, ErrBacklog
	}
	one := &call{conn: c, id: c.calls.Add(1)}
	one.waiter, err = c.rpc.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: one.id}),
		jsonrpc2.ExtraField(resultField, &one.result), jsonrpc2.ExtraField(paramsField, &body))
	return one, fromWire(err)
}

// encodeParams gives nil for no params.
func (c *Conn) encodeParams(method string, params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	body, err := encode(c.o.Outgoing(params))
	if err != nil {
		return nil, fmt.Errorf("the parameters of %s cannot be marshalled: %w", method, err)
	}
	return body, nil
}

// wait waits for the reply and decodes it.
func (o *call) wait(ctx context.Context, result any) error {
	defer Waiting(ctx)()
	alive := ctx
	if t, ok := ctx.Value(taskKey{}).(*task); ok && t.conn == o.conn { // the end of the connection waits for this handler
		var cancel context.CancelFunc
		alive, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(o.conn.base, cancel)()
	}
	err := o.waiter.Wait(alive, nil)
	switch {
	case err != nil && ctx.Err() != nil && err == ctx.Err(): //nolint:errorlint // Wait gives it as it is
		_ = o.conn.Notify("$/cancelRequest", Raw(fmt.Appendf(nil, `{"id":%d}`, o.id)))
		return err
	case err != nil && err == alive.Err(): //nolint:errorlint // the same
		return ErrClosed
	case err != nil:
		return fromWire(err)
	}
	switch into := result.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*into = o.result
		return nil
	case *Raw:
		*into = Raw(o.result)
		return nil
	}
	return json.Unmarshal(o.result, result)
}

// Notify queues a notification. It never waits for the peer; ErrBacklog says
// that it was not queued because too much is unread.
func (c *Conn) Notify(method string, params any) error {
	body, err := c.encodeParams(method, params)
	if err != nil {
		return err
	}
	if c.overloaded() {
		return ErrBacklog
	}
	return fromWire(c.rpc.Notify(context.Background(), method, nil, jsonrpc2.ExtraField(paramsField, &body)))
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
	switch v := value.(type) {
	case TextChunk:
		return c.out.progressText(tokenJSON, v)
	case *TextChunk:
		return c.out.progressText(tokenJSON, *v)
	}
	body, err := encode(value)
	if err != nil {
		return fmt.Errorf("the progress cannot be marshalled: %w", err)
	}
	f := newFrame(progressHead(tokenJSON), body, []byte("}}"))
	if key != "" {
		f.key = string(tokenJSON) + "\x00value\x00" + key
	}
	return c.out.progressValue(f)
}

func progressHead(token json.RawMessage) []byte {
	head := append([]byte(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":`), token...)
	return append(head, `,"value":`...)
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
