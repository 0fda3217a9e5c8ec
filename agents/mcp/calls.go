package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
)

// take sees to calls, once the handshake is over. All else is left to the SDK.
func (s *server) take(e envelope) (mine bool) {
	switch e.Method {
	case "tools/call":
		if e.request != nil && s.revision() != "" {
			return s.start(e)
		}
	case "notifications/roots/list_changed":
		s.route.moved.Store(true)
	}
	return false
}

// start runs a call on a goroutine of its own.
func (s *server) start(e envelope) (mine bool) {
	var c callParams
	if err := json.Unmarshal(e.Params, &c); err != nil {
		s.refuse(e.request, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params cannot be read: " + err.Error()})
		return true
	}
	if err := c.check(); err != nil {
		s.refuse(e.request, err)
		return true
	}
	if c.revision = s.revision(); c.revision >= newProtocol && !c.isNewest() {
		return false // the SDK says what is wrong with it
	}
	run, leave := s.request(c, &waiter{reply: func(r relay.Result) {
		if err := unknownTool(r); err != nil {
			s.refuse(e.request, err)
			return
		}
		s.out.reply(e.request, "result", fitResult(c.revision, r)...)
	}})
	s.out.onCancel(e.request, leave)
	if run != nil {
		go run()
	}
	return true
}

func (s *server) refuse(r *request, e *jsonrpc.Error) {
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	s.out.reply(r, "error", text)
}

// slowCall is a call that came by way of the SDK: the first one of a client without a
// handshake, or one sent right behind the handshake, without waiting for its end.
func (s *server) slowCall(ctx context.Context, req *sdk.CallToolRequest) (sdk.Result, error) {
	p := req.Params
	c := callParams{Name: p.Name, Arguments: p.Arguments, InputResponses: p.InputResponses, RequestState: p.RequestState, revision: req.ProtocolVersion()}
	c.Meta.ProgressToken = p.GetProgressToken()
	if err := c.check(); err != nil {
		return nil, err
	}
	answer := make(chan relay.Result, 1)
	run, leave := s.request(c, &waiter{reply: func(r relay.Result) { answer <- r }})
	if run != nil {
		go run()
	}
	select {
	case r := <-answer:
		if err := unknownTool(r); err != nil {
			return nil, err
		}
		return &rawResult{body: fitResult(c.revision, r).Bytes()}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// rawResult is a result that is JSON already.
type rawResult struct {
	sdk.ResultBase
	body json.RawMessage
}

// MarshalJSON gives the result as it is.
func (r *rawResult) MarshalJSON() ([]byte, error) { return r.body, nil }
