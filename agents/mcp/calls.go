package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"pillion/internal/fault"
	"pillion/internal/lead"
)

// maxCalls is how many calls one agent can have running.
const maxCalls = 256

// calls are those that run beside the SDK, by the JSON of their ids.
type calls struct {
	mu      sync.Mutex // guards running
	running map[string]context.CancelFunc
	all     sync.WaitGroup
}

// take sees to calls, once the handshake is over, and to their cancellation. All
// else is left to the SDK.
func (s *server) take(e envelope) (mine, reads bool) {
	switch {
	case e.Method == "tools/call" && e.isRequest():
		<-s.ready
		if s.client.InitializeParams() == nil {
			return false, true
		}
		return true, s.start(e)
	case e.Method == "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(e.Params, &p) == nil {
			s.calls.cancel(requestID(p.RequestID))
		}
	case e.Method == "notifications/roots/list_changed":
		s.route.moved.Store(true)
	}
	return false, true
}

// requestID gives equal ids equal text, however they were escaped.
func requestID(raw json.RawMessage) string {
	text := string(raw)
	var plain string
	if strings.Contains(text, `\`) && json.Unmarshal(raw, &plain) == nil {
		if again, err := json.Marshal(plain); err == nil {
			return string(again)
		}
	}
	return text
}

// start runs a call: on the goroutine that reads if nothing else is to be read
// yet, else on one of its own.
func (s *server) start(e envelope) (reads bool) {
	id := requestID(e.ID)
	var c callParams
	if err := json.Unmarshal(e.Params, &c); err != nil {
		s.refuse(id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params cannot be read: " + err.Error()})
		return true
	}
	if err := c.check(); err != nil {
		s.refuse(id, err)
		return true
	}
	ctx, cancel := context.WithCancel(s.ctx)
	switch s.calls.add(id, cancel) {
	case taken:
		cancel()
		s.refuse(id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a call with this id is running already, use a new id"})
		return true
	case full:
		cancel()
		s.out.reply(json.RawMessage(id), "result", failure(s.ctx, fault.New(fault.RateLimited, "%d calls are running already; wait for some to end", maxCalls))...)
		return true
	}
	run := func() {
		defer s.calls.all.Done()
		result := s.call(ctx, s.client, c)
		s.calls.remove(id) // before the answer: from then on its id is free
		cancel()
		s.out.reply(json.RawMessage(id), "result", result...)
	}
	if !s.out.alone() {
		go run()
		return true
	}
	var turn lead.Turn
	s.out.lead.Begin(&turn)
	run()
	return s.out.lead.End(&turn)
}

func (s *server) refuse(id string, e *jsonrpc.Error) {
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	s.out.reply(json.RawMessage(id), "error", text)
}

type admission int

const (
	admitted admission = iota
	taken
	full
)

func (c *calls) add(id string, cancel context.CancelFunc) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.running[id] != nil:
		return taken
	case len(c.running) >= maxCalls:
		return full
	}
	if c.running == nil {
		c.running = map[string]context.CancelFunc{}
	}
	c.running[id] = cancel
	c.all.Add(1)
	return admitted
}

func (c *calls) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, id)
}

func (c *calls) cancel(id string) {
	c.mu.Lock()
	cancel := c.running[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// wait is for the end, when the calls' context is cancelled and none can start.
func (c *calls) wait() { c.all.Wait() }
