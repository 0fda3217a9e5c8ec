package acp

import (
	"sync"
	"time"
)

// clock measures how long a sub-agent works. It stands still while a call of it may wait
// for the user.
type clock struct {
	mu    sync.Mutex // guards all below
	left  time.Duration
	since time.Time // when it last began to run
	held  int
	timer *time.Timer
}

func newClock(limit time.Duration, over func()) *clock {
	return &clock{left: limit, since: time.Now(), timer: time.AfterFunc(limit, over)}
}

// hold stops the clock until release.
func (c *clock) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.since = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

func (c *clock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++ // nothing starts it again
	c.timer.Stop()
}
