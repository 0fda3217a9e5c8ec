package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
	"pillion/internal/fault"
)

// In the newest revision a server sends no requests. A call that needs the user's answer
// is answered with the question, as an input-required result; the client makes the call
// again with the answer, and so joins the pending call that has been waiting for it.

// inquiry is what the client is to ask the user before a pending call can go on.
type inquiry struct {
	key    string // names it in the result and in the answer: an answer is to what was asked, and nothing else
	params *sdk.ElicitParams
	asked  bool // the client has it
	answer chan *sdk.ElicitResult
}

// form is the inquiry as the result of the call. The client sends the state back. It needs
// the lock.
func (e *pendingCall) form() relay.Result {
	e.inquiry.asked = true
	requests := encoded(sdk.InputRequestMap{e.inquiry.key: e.inquiry.params})
	return relay.Result{fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":%s,"requestState":%q}`, requests, e.parkAs())}
}

type pendingCallKey struct{}

// pendingCallOf is the call in whose course something is asked.
func pendingCallOf(ctx context.Context) *pendingCall {
	e, _ := ctx.Value(pendingCallKey{}).(*pendingCall)
	return e
}

// asks: the client is asked by results.
func (e *pendingCall) asks() bool { return e.revision >= newProtocol }

// ask has the client ask the user.
func (e *pendingCall) ask(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	q := &inquiry{params: p, answer: make(chan *sdk.ElicitResult, 1)}
	e.s.pendingCalls.mu.Lock()
	e.inquiries++
	q.key = "question-" + strconv.Itoa(e.inquiries)
	e.inquiry = q
	after := e.turn()
	e.s.pendingCalls.mu.Unlock()
	if after != nil {
		after()
	}
	select {
	case given := <-q.answer:
		return given, nil
	case <-ctx.Done():
		e.s.pendingCalls.mu.Lock()
		defer e.s.pendingCalls.mu.Unlock()
		if e.inquiry == q {
			e.inquiry = nil
		}
		return nil, ctx.Err()
	}
}

// resumed finds the pending call that a call comes back to, and gives it the answer. It needs
// the lock.
func (s *server) resumed(c callParams) (*pendingCall, error) {
	i := slices.IndexFunc(s.pendingCalls.parked, func(e *pendingCall) bool {
		return e.id == c.RequestState && e.Name == c.Name && slices.Equal(normal(e.Arguments), normal(c.Arguments))
	})
	if i < 0 {
		return nil, fault.Invalid("no call waits for this answer; make the call again without it")
	}
	e := s.pendingCalls.parked[i]
	if e.inquiry == nil {
		return e, nil
	}
	if given, ok := c.InputResponses[e.inquiry.key].(*sdk.ElicitResult); ok {
		e.inquiry.answer <- given
		e.inquiry = nil
	} else {
		e.inquiry.asked = false
	}
	return e, nil
}
