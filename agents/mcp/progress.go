package mcp

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
)

const (
	// outputPace is the least time between two pieces of output: clients draw
	// each, and the whole output is in the result anyway.
	outputPace = 100 * time.Millisecond
	// maxOutput is how much of the newest output one piece holds.
	maxOutput = 4 << 10
)

// reporter sends one call's progress to the client that asked for it. A nil
// reporter, for a client that did not, sends nothing.
type reporter struct {
	ctx    context.Context
	client *sdk.ServerSession
	token  any
	// revision of the protocol that the client speaks
	revision string

	mu      sync.Mutex // guards all below, and keeps the notifications in order
	count   float64
	text    []byte // output that waits
	sent    time.Time
	timer   *time.Timer // for the output that waits
	stopped bool
}

func (s *server) newReporter(c callParams) *reporter {
	if c.Meta.ProgressToken == nil {
		return nil
	}
	return &reporter{ctx: s.ctx, client: s.session(), revision: c.revision, token: c.Meta.ProgressToken}
}

// progress takes what a sidecar reports.
func (r *reporter) progress(p relay.Progress) {
	if r == nil {
		return
	}
	if p.Message != "" {
		r.say(p.Message)
	}
	if p.Text != "" {
		r.output(p.Text)
	}
}

// say sends a message.
func (r *reporter) say(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.flush()
		r.send(message)
	}
}

// output sends what a command printed, or keeps it for a moment.
func (r *reporter) output(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	r.text = append(r.text, text...)
	if over := len(r.text) - maxOutput; over > 0 {
		r.text = append(r.text[:0], r.text[over:]...)
	}
	wait := outputPace - time.Since(r.sent)
	switch {
	case wait <= 0:
		r.flush()
	case r.timer == nil:
		r.timer = time.AfterFunc(wait, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.timer = nil
			if !r.stopped {
				r.flush()
			}
		})
	}
}

// flush sends the output that waits. It needs r.mu.
func (r *reporter) flush() {
	if len(r.text) == 0 {
		return
	}
	for len(r.text) > 0 && !utf8.RuneStart(r.text[0]) {
		r.text = r.text[1:] // the rest of a character that was cut
	}
	r.send(strings.ToValidUTF8(string(r.text), "\uFFFD"))
	r.text, r.sent = r.text[:0], time.Now()
}

// send needs r.mu. A client that is gone is noticed elsewhere.
func (r *reporter) send(message string) {
	r.count++
	if r.revision < revisionBatches {
		message = ""
	}
	_ = r.client.NotifyProgress(r.ctx, &sdk.ProgressNotificationParams{ProgressToken: r.token, Progress: r.count, Message: message})
}

// stop sends what waits; nothing is sent after it, because the result follows.
func (r *reporter) stop() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.flush()
	r.stopped = true
}
