package tools

import (
	"context"
	"sync"
	"time"
)

// within gives a context that ends after limit at the latest. It sets a timer
// only when somebody waits for that: most plans are made long before, and a timer
// wakes a thread, which takes longer than to plan the reading of a file.
func within(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	c := &timeout{Context: parent, deadline: time.Now().Add(limit)}
	return c, c.cancel
}

type timeout struct {
	context.Context // the parent
	deadline        time.Time

	mu   sync.Mutex // guards all below
	real context.Context
	stop context.CancelFunc
}

func (c *timeout) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

func (c *timeout) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.start().Done()
}

func (c *timeout) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.real != nil:
		return c.real.Err()
	case c.Context.Err() != nil:
		return c.Context.Err()
	case time.Now().Before(c.deadline):
		return nil
	}
	return context.DeadlineExceeded
}

// AfterFunc lets contexts that are made of this one end with it without a goroutine of
// their own: see context.AfterFunc.
func (c *timeout) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.AfterFunc(c.start(), f)
}

// start needs the lock.
func (c *timeout) start() context.Context {
	if c.real == nil {
		c.real, c.stop = context.WithDeadline(c.Context, c.deadline)
	}
	return c.real
}

func (c *timeout) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		c.real, c.stop = context.WithCancel(c.Context)
	}
	c.stop()
}
