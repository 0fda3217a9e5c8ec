package wire

import (
	"context"
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
	share *share
	calls atomic.Uint64 // how many calls there were; their ids count from 1
	ready chan struct{} // closed when messages may be read

	// reading is what the message that is read has of the share. Only who reads has it.
	reading int

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
	c := &Conn{o: o.withDefaults(), rwc: rwc, ready: make(chan struct{}), done: make(chan struct{})}
	c.base, c.stop = context.WithCancel(context.Background())
	c.out = newWriter(rwc, c.o.WriteBudget, c.writerFailed)
	c.share = &share{budget: c.o.Budget}
	c.tasks = newDispatcher(c.o, c.share)
	s := &stream{conn: c, frames: newFrames(rwc, c.o.MaxHeader, c.o.MaxFrame)}
	if c.o.Sheds {
		s.frames.room = s.takeRoom
	}
	c.rpc = jsonrpc2.NewConn(context.Background(), s, handler{c},
		jsonrpc2.OnRecv(s.onRecv), jsonrpc2.OnSend(s.onSend), jsonrpc2.SetLogger(logger(c.o.Logf)))
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
	go c.finish() // a reader may not notice that its stream was closed, as with a terminal
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
		c.reply(t.ID, nil, cancelled)
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
