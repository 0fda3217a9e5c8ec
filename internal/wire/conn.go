package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// How long the end of a connection waits.
const (
	handlerGrace = 3 * time.Second // for handlers whose context was cancelled
	flushGrace   = time.Second     // for replies to be written
)

// Conn is a connection. Its methods may be called from anywhere at any time.
type Conn struct {
	o     Options
	rwc   io.ReadWriteCloser
	rpc   *jsonrpc2.Conn
	out   *writer
	tasks *dispatcher
	seq   atomic.Uint64 // ids of our calls

	// base is cancelled when no further message will be taken; every
	// handler's context descends from it.
	base context.Context
	stop context.CancelFunc
	done chan struct{}

	endMu  sync.Mutex
	ended  bool
	endErr error

	finishOnce, closeOnce sync.Once
	closeErr              error
}

// NewConn starts a connection over rwc, which it closes at its end.
func NewConn(rwc io.ReadWriteCloser, o Options) *Conn {
	c := &Conn{o: o.withDefaults(), rwc: rwc, done: make(chan struct{})}
	c.base, c.stop = context.WithCancel(context.Background())
	c.out = newWriter(rwc, c.o.WriteBudget, c.writerFailed)
	c.tasks = newDispatcher(c.o, c.run)
	ready := make(chan struct{})
	s := &stream{conn: c, ready: ready, frames: newFrames(rwc, c.o.MaxHeader, c.o.MaxFrame)}
	c.rpc = jsonrpc2.NewConn(context.Background(), s, c, jsonrpc2.SetLogger(logger(c.o.Logf)), jsonrpc2.OnSend(s.sends))
	if c.o.Ready != nil {
		c.o.Ready(c)
	}
	close(ready)
	return c
}

type logger func(format string, args ...any)

func (l logger) Printf(format string, args ...any) { l(format, args...) }

// Done is closed when the connection has ended: nothing is read or written any
// more and every handler has returned, or was given 3 s to.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection ended: nil if it has not, if the peer closed it
// between two messages, or if Close was called.
func (c *Conn) Err() error {
	c.endMu.Lock()
	defer c.endMu.Unlock()
	return c.endErr
}

// Close cancels what runs, writes what waits for at most a second and closes the
// stream. It does not wait for handlers, so that a handler can call it; Done
// does.
func (c *Conn) Close() error {
	c.end(nil)
	c.cancelQueued()
	c.out.flush(flushGrace)
	err := c.closeStream()
	go c.finish()
	return err
}

// end lets no further message in. The first reason counts.
func (c *Conn) end(err error) {
	c.endMu.Lock()
	defer c.endMu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	if !errors.Is(err, io.EOF) {
		c.endErr = err
	}
	c.stop()
}

// readerEnded is called when the last message was read. The handlers, which are told to
// stop, can still answer until it returns.
func (c *Conn) readerEnded(err error) {
	var broken *framingError
	if errors.As(err, &broken) {
		c.refuse("", CodeParse, broken.reason+"; the connection ends because the next frame cannot be found")
		err = fmt.Errorf("reading a frame: %w", err)
	}
	c.end(err)
	c.finish()
}

// finish waits for the handlers, which have been told to stop, and for what
// they still had to say.
func (c *Conn) finish() {
	c.finishOnce.Do(func() {
		c.cancelQueued()
		if !c.tasks.wait(handlerGrace) {
			c.o.Logf("the connection ended while handlers still ran: they did not stop in %v", handlerGrace)
		}
		c.out.flush(flushGrace)
		_ = c.closeStream()
		_ = c.rpc.Close()
		close(c.done)
	})
}

func (c *Conn) cancelQueued() {
	for _, t := range c.tasks.close() {
		t.cancel()
		c.replyError(t.id, cancelled)
	}
}

func (c *Conn) closeStream() error {
	c.closeOnce.Do(func() {
		c.closeErr = c.rwc.Close()
		c.out.stop()
	})
	return c.closeErr
}

// writerFailed ends the connection whose peer takes nothing any more.
func (c *Conn) writerFailed(err error) {
	c.end(fmt.Errorf("writing a message: %w", err))
	go func() { _ = c.closeStream() }()
}

func (c *Conn) overloaded() bool { return c.out.load() > c.o.WriteBudget }

// reply sends an answer by way of jsonrpc2. It never waits.
func (c *Conn) reply(r *jsonrpc2.Response) {
	if c.out.load() > 2*c.o.WriteBudget {
		c.writerFailed(ErrBacklog)
		return
	}
	_ = c.rpc.SendResponse(context.Background(), r) // it fails when the connection is gone, and who asked with it
}

func (c *Conn) replyError(id jsonrpc2.ID, e *Error) {
	answer := &jsonrpc2.Error{Code: e.Code, Message: e.Message}
	if data, err := encode(e.Data); e.Data != nil && err == nil {
		raw := json.RawMessage(data)
		answer.Data = &raw
	}
	c.reply(&jsonrpc2.Response{ID: id, Error: answer})
}
