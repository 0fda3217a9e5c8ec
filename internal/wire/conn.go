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
	ready chan struct{} // closed when messages may be read

	calls   atomic.Uint64 // how many calls there were; their ids count from 1
	results sync.Map      // by the ids of calls, where the result goes: a *json.RawMessage
	sending sync.Mutex
	params  json.RawMessage // of the message that jsonrpc2 is given to send; nil for none

	mu       sync.Mutex
	inflight map[string]*task // the peer's requests that are not answered, by their ids
	queue    []*task          // those that wait for a worker
	running  int              // how many workers are taken
	active   sync.WaitGroup   // requests whose handler has not returned

	held  int // bytes of the budget
	taken int // those of the message that is being read; for the goroutine that reads alone

	// base is cancelled when no further message will be taken; every
	// handler's context descends from it.
	base context.Context
	stop context.CancelFunc
	done chan struct{}

	endOnce, finishOnce sync.Once
	endErr              error // set before base is cancelled
	closeStream         func() error
}

// NewConn starts a connection over rwc, which it closes at its end.
func NewConn(rwc io.ReadWriteCloser, o Options) *Conn {
	c := &Conn{o: o.withDefaults(), rwc: rwc, inflight: map[string]*task{}, ready: make(chan struct{}), done: make(chan struct{})}
	c.base, c.stop = context.WithCancel(context.Background())
	c.out = newWriter(rwc, c.o.WriteBudget, c.writerFailed)
	c.closeStream = sync.OnceValue(func() error {
		defer c.out.stop()
		return c.rwc.Close()
	})
	s := newStream(c)
	c.rpc = jsonrpc2.NewConn(context.Background(), s, s, jsonrpc2.OnRecv(s.onRecv), jsonrpc2.SetLogger(logger(c.o.Logf)))
	if c.o.Ready != nil {
		c.o.Ready(c)
	}
	close(c.ready)
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
	if c.base.Err() == nil || errors.Is(c.endErr, io.EOF) {
		return nil
	}
	return c.endErr
}

// Close cancels what runs, writes what waits for at most a second and closes the
// stream. It does not wait for handlers, so that a handler can call it; Done
// does.
func (c *Conn) Close() error {
	c.end(nil)
	c.out.flush(flushGrace)
	err := c.closeStream()
	go c.finish() // a reader may not notice that its stream was closed, as with a terminal
	return err
}

// end lets no further message in, and has our calls and the peer's requests fail. The
// first reason counts.
func (c *Conn) end(err error) {
	c.endOnce.Do(func() {
		c.endErr = err
		c.stop()
	})
	_ = c.rpc.Close()
	c.cancelWhere(func(*task) bool { return true })
}

// finish waits for the handlers, which have been told to stop, and for what
// they still had to say.
func (c *Conn) finish() {
	c.finishOnce.Do(func() {
		idle := make(chan struct{})
		go func() { c.active.Wait(); close(idle) }()
		select {
		case <-idle:
		case <-time.After(handlerGrace):
			c.o.Logf("the connection ended while handlers still ran: they did not stop in %v", handlerGrace)
		}
		c.out.flush(flushGrace)
		_ = c.closeStream()
		close(c.done)
	})
}

// writerFailed ends the connection whose peer takes nothing any more.
func (c *Conn) writerFailed(err error) {
	c.end(fmt.Errorf("writing a message: %w", err))
	go func() { _ = c.closeStream() }()
}
