package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
)

// progress is the running calls whose progress the editor shows, by token: the
// user can cancel them where it is shown.
type progress struct {
	mu      sync.Mutex // guards running
	running map[string]context.CancelFunc
}

// cancellable ties a call to its token until done is called. Without a token the
// call is only cancelled as any request is.
func (p *progress) cancellable(ctx context.Context, token string) (_ context.Context, done func()) {
	if token == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = map[string]context.CancelFunc{}
	}
	p.running[token] = cancel
	return ctx, func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, token)
	}
}

type workDoneProgressCancelParams struct {
	Token json.RawMessage `json:"token"`
}

// workDoneProgressCancel is the user's click on a shown progress.
func (s *server) workDoneProgressCancel(_ context.Context, p workDoneProgressCancelParams) (any, error) {
	if call := s.bars.call(p.Token); call != nil {
		s.running().Registry.Stop(call.SessionID, call.CallID)
		return nil, nil
	}
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if cancel := s.progress.running[string(p.Token)]; cancel != nil {
		cancel()
	}
	return nil, nil
}

// bars are the calls that an editor without a plugin shows as LSP's work done
// progress: those that take longer than a moment, or wait for the user.
type bars struct {
	mu      sync.Mutex // guards all below, and the activity of each bar
	byCall  map[[2]string]*bar
	byToken map[string]*bar
	count   int
}

// bar is the progress of one call.
type bar struct {
	token    string         // some editors show it
	activity tools.Activity // as it came last
	changed  chan struct{}
}

// note takes a call's new state. It does not wait for the editor.
func (b *bars) note(conn *wire.Conn, a tools.Activity) {
	key := [2]string{a.SessionID, a.CallID}
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.byCall[key]
	if one == nil {
		if isOver(a) {
			return
		}
		if b.byCall == nil {
			b.byCall, b.byToken = map[[2]string]*bar{}, map[string]*bar{}
		}
		b.count++
		one = &bar{token: fmt.Sprintf("Pillion %d", b.count), changed: make(chan struct{}, 1)}
		b.byCall[key], b.byToken[one.token] = one, one
		defer func() { go b.run(conn, one) }()
	}
	if isOver(a) {
		delete(b.byCall, key)
		delete(b.byToken, one.token)
	}
	one.activity = a
	select {
	case one.changed <- struct{}{}:
	default: // what has not been looked at yet is looked at as it is now
	}
}

func isOver(a tools.Activity) bool { return a.State == tools.Done || a.State == tools.Failed }

func (b *bars) now(one *bar) tools.Activity {
	b.mu.Lock()
	defer b.mu.Unlock()
	return one.activity
}

// run shows one call from when it is worth it until it is over.
func (b *bars) run(conn *wire.Conn, one *bar) {
	if !b.due(conn, one) || create(conn, one.token) != nil {
		return
	}
	a := b.now(one)
	if isOver(a) {
		return
	}
	report := func(v progressValue) { conn.Notify("$/progress", progressOf{one.token, v}) } //nolint:errcheck // an editor that is gone shows nothing
	title := barTitle(a)
	report(progressValue{Kind: "begin", Title: title, Message: barMessage(a), Cancellable: true})
	for said := a.State; ; {
		select {
		case <-one.changed:
		case <-conn.Done():
			return
		}
		switch a = b.now(one); {
		case isOver(a):
			report(progressValue{Kind: "end", Message: barMessage(a)})
			return
		case a.State != said:
			said = a.State
			message := barMessage(a)
			if barTitle(a) != title { // it was shown before it was known what the call is about, and a title stays
				message = oneLine(a.Summary + ": " + message)
			}
			report(progressValue{Kind: "report", Message: message, Cancellable: true})
		}
	}
}

// due waits until a call is worth showing, and reports false if it never is.
func (b *bars) due(conn *wire.Conn, one *bar) bool {
	moment := time.After(barMoment)
	for {
		select {
		case <-moment:
			return true
		case <-conn.Done():
			return false
		case <-one.changed:
			a := b.now(one)
			if isOver(a) || a.State == tools.Waiting {
				return !isOver(a)
			}
		}
	}
}

// barMoment is how long a call may take before it is worth showing.
const barMoment = 500 * time.Millisecond

func create(conn *wire.Conn, token string) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return conn.Call(ctx, "window/workDoneProgress/create", map[string]string{"token": token}, nil)
}

type progressOf struct {
	Token string        `json:"token"`
	Value progressValue `json:"value"`
}

type progressValue struct {
	Kind        string `json:"kind"`
	Title       string `json:"title,omitempty"`
	Message     string `json:"message,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
}

// barTitle is one line that says who does what.
func barTitle(a tools.Activity) string {
	what := a.Title
	if a.Summary != "" {
		what = a.Summary
	}
	return oneLine(fault.Quote(a.Agent.Name) + ": " + what)
}

func barMessage(a tools.Activity) string {
	switch a.State {
	case tools.Waiting:
		return "waits for your answer"
	case tools.Done:
		return oneLine(a.Summary)
	case tools.Failed:
		return oneLine("failed: " + a.Summary)
	}
	return "running"
}

func oneLine(s string) string {
	return fault.Clip(strings.Join(strings.Fields(fault.Escape(s)), " "), barLine)
}

const barLine = 200 // bytes

// call gives the call that a progress of ours shows, nil for another token.
func (b *bars) call(token json.RawMessage) *tools.Activity {
	var name string
	if json.Unmarshal(token, &name) != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.byToken[name]
	if one == nil {
		return nil
	}
	a := one.activity
	return &a
}
