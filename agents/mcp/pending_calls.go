package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/tools"
)

// pendingCall is a call on its way, apart from the requests that wait for its result. It
// outlives them: shortly before a client would give up it is parked, the request is
// answered with its id, and wait_for_answer, or the same call again, waits on.
type pendingCall struct {
	callParams
	s      *server
	ctx    context.Context
	cancel context.CancelFunc
	moved  atomic.Bool // the user went to where it can be shown whole: it is made again there

	// All below is guarded by pendingCalls.mu.
	id        string // empty: it was never parked
	waiters   []*waiter
	ended     bool
	result    relay.Result
	status    relay.Progress // the last sign of life
	inquiry   *inquiry       // that the client is to make of the user
	inquiries int            // that there were
}

// waiter is a request that waits for a pending call.
type waiter struct {
	hear  *reporter // nil: the client wants no progress
	reply func(relay.Result)
	limit *time.Timer // nil: it waits for as long as it takes
}

// pendingCalls are the calls of a connection.
type pendingCalls struct {
	mu      sync.Mutex // guards all below, and what pendingCalls say of it
	running int
	parked  []*pendingCall // and not collected, the oldest first
	last    int            // number of an id
	all     sync.WaitGroup
}

const (
	maxCalls = 256 // that one agent can have running
	maxKept  = 32  // results that nobody has collected
)

// request finds the pending call that a request waits for, or sets one up, which run does. A
// nil run: it is on its way already, or there is none. leave is for when the request is
// cancelled.
func (s *server) request(c callParams, w *waiter) (run, leave func()) {
	s.pendingCalls.mu.Lock()
	e, err := s.find(c)
	switch {
	case err != nil:
		s.pendingCalls.mu.Unlock()
		w.reply(s.failure(s.ctx, err))
		return nil, func() {}
	case e == nil:
		e = &pendingCall{callParams: c, s: s, status: relay.Progress{Message: c.Name + " is running"}}
		e.ctx, e.cancel = context.WithCancel(context.WithValue(s.ctx, pendingCallKey{}, e))
		s.pendingCalls.running++
		s.pendingCalls.all.Add(1)
		run = e.run
	}
	w.hear = s.newReporter(c)
	leave = func() { e.leave(w) }
	e.waiters = append(e.waiters, w)
	after := e.turn()
	if within := s.patience(); within > 0 && after == nil {
		w.limit = time.AfterFunc(within, func() { e.park(w) })
	}
	s.pendingCalls.mu.Unlock()
	if after != nil {
		after()
	}
	return run, leave
}

// find gives the pending call that the call is about: the one that it names, or one like it
// that is parked. It needs the lock.
func (s *server) find(c callParams) (*pendingCall, error) {
	switch {
	case c.Name == waitTool:
		return s.pendingCalls.named(c.Arguments)
	case c.RequestState != "" && c.revision >= newProtocol:
		return s.resumed(c)
	}
	if e := s.pendingCalls.like(c); e != nil {
		return e, nil
	}
	if s.pendingCalls.running >= maxCalls {
		return nil, fault.New(fault.RateLimited, "%d calls are already running; wait for some to end", maxCalls)
	}
	return nil, nil
}

// like finds a parked call of the same tool with the same arguments that goes on: an agent
// that calls again instead of waiting must not have it done twice. One that has ended is no
// answer to a later call, whatever has happened in between.
func (s *pendingCalls) like(c callParams) *pendingCall {
	if len(s.parked) == 0 {
		return nil
	}
	mine := normal(c.Arguments)
	for _, e := range s.parked {
		if !e.ended && e.Name == c.Name && slices.Equal(normal(e.Arguments), mine) {
			if e.inquiry != nil {
				e.inquiry.asked = false // that request has come to nothing
			}
			return e
		}
	}
	return nil
}

// normal is the same for arguments that mean the same.
func normal(arguments json.RawMessage) []byte {
	var value any
	if len(arguments) == 0 || json.Unmarshal(arguments, &value) != nil {
		return arguments
	}
	text, err := json.Marshal(value)
	if err != nil {
		return arguments
	}
	return text
}

func (e *pendingCall) run() {
	defer e.s.pendingCalls.all.Done()
	result := e.s.call(e)
	e.s.pendingCalls.mu.Lock()
	e.s.pendingCalls.running--
	e.ended, e.result = true, result
	after := e.turn()
	e.s.pendingCalls.dropOldResults()
	e.s.pendingCalls.mu.Unlock()
	e.cancel()
	if after != nil {
		after()
	}
}

// turn looks whether those who wait can be answered, which the function that it gives
// does: with the result, or one of them with the question. It needs the lock.
func (e *pendingCall) turn() (after func()) {
	waiting, answer := e.waiters, e.result
	switch {
	case len(waiting) == 0:
		return nil
	case e.ended:
		e.s.pendingCalls.parked = slices.DeleteFunc(e.s.pendingCalls.parked, func(other *pendingCall) bool { return other == e })
	case e.inquiry != nil && !e.inquiry.asked:
		waiting, answer = waiting[:1], e.form()
	default:
		return nil
	}
	e.waiters = slices.Clone(e.waiters[len(waiting):])
	return func() {
		for _, w := range waiting {
			w.end(answer)
		}
	}
}

func (w *waiter) end(answer relay.Result) {
	if w.limit != nil {
		w.limit.Stop()
	}
	w.hear.stop()
	w.reply(answer)
}

// park answers a request shortly before its client gives up. The pending call goes on.
func (e *pendingCall) park(w *waiter) {
	e.s.pendingCalls.mu.Lock()
	at := slices.Index(e.waiters, w)
	if at < 0 { // it has its answer
		e.s.pendingCalls.mu.Unlock()
		return
	}
	e.waiters = slices.Delete(e.waiters, at, at+1)
	id, waits := e.parkAs(), e.status.Waiting
	e.s.pendingCalls.mu.Unlock()
	w.end(e.s.stillThere(id, waits))
}

// parkAs gives the pending call an id, under which it is kept. It needs the lock.
func (e *pendingCall) parkAs() string {
	if e.id == "" {
		e.s.pendingCalls.last++
		e.id = fmt.Sprintf("w%d", e.s.pendingCalls.last)
		e.s.pendingCalls.parked = append(e.s.pendingCalls.parked, e)
	}
	return e.id
}

// dropOldResults drops the oldest results when there are too many that nobody collects.
func (s *pendingCalls) dropOldResults() {
	kept := 0
	for i := len(s.parked) - 1; i >= 0; i-- {
		if !s.parked[i].ended {
			continue
		}
		if kept++; kept > maxKept {
			s.parked = slices.Delete(s.parked, i, i+1)
		}
	}
}

// leave is for a request that was cancelled: nobody wants its answer. What was never
// parked ends with it.
func (e *pendingCall) leave(w *waiter) {
	e.s.pendingCalls.mu.Lock()
	e.waiters = slices.DeleteFunc(e.waiters, func(other *waiter) bool { return other == w })
	unwanted := e.id == ""
	e.s.pendingCalls.mu.Unlock()
	if w.limit != nil {
		w.limit.Stop()
	}
	if unwanted {
		e.cancel()
	}
	w.hear.stop()
}

// waits: when it was last heard of, the user was asked, and nothing was done yet.
func (e *pendingCall) waits() bool {
	e.s.pendingCalls.mu.Lock()
	defer e.s.pendingCalls.mu.Unlock()
	return e.status.Waiting
}

// progress passes a sign of life, or a piece of output, on to whoever waits.
func (e *pendingCall) progress(p relay.Progress) {
	e.s.pendingCalls.mu.Lock()
	if p.Message != "" {
		e.status = p
	}
	waiters := slices.Clone(e.waiters)
	e.s.pendingCalls.mu.Unlock()
	for _, w := range waiters {
		w.hear.progress(p)
	}
}

// wait is for the end, when the calls' context is cancelled and none can start.
func (s *pendingCalls) wait() { s.all.Wait() }

// waitTool collects the result of a call that was answered before it was done. It is
// listed for clients that give up.
const waitTool = "wait_for_answer"

// It is short, because it is in each conversation, and as open to the world as what it waits for.
var waitDefinition = tools.Definition{
	Name: waitTool, Description: "Waits for the result of an unfinished call, by its id.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
	Annotations: tools.Annotations{ReadOnly: true, OpenWorld: true},
}

// patience is how long a request of this client may stay unanswered. 0: for ever.
func (s *server) patience() time.Duration {
	if s.o.AnswerWithin != nil {
		return before(*s.o.AnswerWithin)
	}
	return before(clientOf(clientName(s.session())).waits)
}

// before is in good time before the limit: a tenth of it, and 5 s where there are as many.
func before(limit time.Duration) time.Duration {
	return limit - min(max(limit/10, 5*time.Second), limit/2)
}

// stillThere is the result of a call that goes on.
func (s *server) stillThere(id string, waits bool) relay.Result {
	state := "still running"
	if waits {
		state = "still waiting for the user"
	}
	text := fmt.Sprintf("%s; call %s with id %s", state, waitTool, id)
	structured := encoded(map[string]any{"ok": true, "waiting": state, "id": id})
	return relay.NewResult(tools.Result{Content: []tools.Part{{Type: "text", Text: text}}, Structured: structured}, s.o.Structured)
}

// named finds the pending call that wait_for_answer is to wait for. It needs the lock.
func (s *pendingCalls) named(arguments json.RawMessage) (*pendingCall, error) {
	var args map[string]string
	if json.Unmarshal(arguments, &args) != nil || len(args) != 1 || args["id"] == "" {
		return nil, fault.Invalid("%s needs one argument: id, a string such as w1", waitTool)
	}
	var ids []string
	for _, e := range s.parked {
		if e.id == args["id"] {
			return e, nil
		}
		ids = append(ids, e.id)
	}
	err := fault.Invalid("no call with the id %s is waiting; its result was already returned, or the id is wrong", fault.Quote(args["id"]))
	if len(ids) == 0 {
		return nil, err.WithHint("no other call is waiting either; go on without it")
	}
	return nil, err.WithHint("waiting: %s", strings.Join(ids, ", "))
}
