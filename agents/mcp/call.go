package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/tools"
)

// list shows the tools of the sidecar, or our own when there is none.
func (s *server) list(ctx context.Context, req *sdk.ListToolsRequest) (sdk.Result, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	definitions := tools.DialectDefinitions(s.o.Dialect, s.o.Tools)
	if d, err := s.route.door(ctx, req.Session); err != nil {
		s.o.Logf("listing the tools: %v", err)
	} else {
		theirs, err := d.tools(ctx)
		d.Done()
		if err != nil {
			s.o.Logf("listing the tools: %v", err)
		} else {
			definitions = theirs
		}
	}
	s.names.learn(clientName(req.Session), definitions)
	out := []listed{}
	for _, d := range definitions {
		out = append(out, listedTool(d, &s.names))
	}
	if s.patience() > 0 {
		out = append(out, listedTool(waitDefinition, &s.names))
	}
	return fitList(req.ProtocolVersion(), out)
}

// call passes a call on. Whatever goes wrong is a result too, which models can
// read; errors of the protocol are for requests that are none, see unknownTool.
func (s *server) call(e *pendingCall) relay.Result {
	name := s.names.canonical(e.Name)
	for {
		d, err := s.route.door(e.ctx, s.session())
		if err != nil {
			return s.failure(e.ctx, err)
		}
		result, err := d.call(e.ctx, name, e)
		d.Done()
		switch {
		case errors.Is(err, errMoved):
		case err != nil:
			return s.failure(e.ctx, err)
		default:
			return result
		}
	}
}

// callParams is the params of MCP's tools/call.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      struct {
		ProgressToken any             `json:"progressToken"`
		Revision      string          `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`

	// Of the newest revision: the answers to what a result asked for, and which one it was.
	InputResponses sdk.InputResponseMap `json:"inputResponses"`
	RequestState   string               `json:"requestState"`

	revision string // of the protocol, that the result is for
}

func (c callParams) check() *jsonrpc.Error {
	if c.Name == "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "name is missing: give the tool to call"}
	}
	return nil
}

// failure is the result of a call that came to nothing.
func (s *server) failure(ctx context.Context, err error) relay.Result {
	if ctx.Err() != nil {
		err = fault.New(fault.Cancelled, "the call was cancelled")
	}
	known := fault.From(err)
	return relay.NewResult(tools.Result{
		Content:    []tools.Part{{Type: "text", Text: tools.ErrorText(known)}},
		Structured: encoded(map[string]any{"ok": false, "error": known}), IsError: true,
	}, s.o.Structured)
}

// unknownTool is what MCP has for a call of a tool that there is not: an error of the
// protocol. Nil for any other result.
func unknownTool(r relay.Result) *jsonrpc.Error {
	body := r.Bytes()
	const mark = string(fault.ToolNotFound) + ": "
	if len(body) > 8<<10 || !bytes.Contains(body, []byte(mark)) {
		return nil
	}
	var said struct {
		Content []tools.Part
		IsError bool
	}
	if json.Unmarshal(body, &said) != nil || !said.IsError || len(said.Content) == 0 {
		return nil
	}
	text, is := strings.CutPrefix(said.Content[0].Text, mark)
	if !is {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text, Data: encoded(map[string]any{"code": fault.ToolNotFound})}
}

// encoded is the JSON of what always has one.
func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		_ = bug.Errorf("encoding %T: %w", v, err)
		return json.RawMessage("null")
	}
	return text
}

// names turns the names of models, which most accept without dots alone, into
// those of the contract and back.
type names struct {
	mu    sync.Mutex        // guards what follows
	known map[string]string // git_diff → git.diff
}

func plainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Shown are the names that only some agents know tools of ours by.
func Shown() (names []string) {
	for _, r := range renamed {
		names = append(names, r.shown)
	}
	return names
}

// renamed are tools that some agents would not offer to their model: Gemini CLI 0.61.0
// denies tools of its own by their bare names, and with them those of ours that are called
// the same.
var renamed = []struct{ client, name, shown string }{
	{"gemini", "write_file", "save_file"},
	{"gemini", "exit_plan_mode", "submit_plan"},
	{"gemini", "web_fetch", "fetch_url"}, // without a terminal
}

// learn takes the tools' names in, as the client is to know them, beside those of our own
// catalogue: descriptions name tools that are not listed.
func (n *names) learn(client string, definitions []tools.Definition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = map[string]string{}
	for _, t := range tools.Catalogue() {
		n.add(client, t.Name)
	}
	for _, d := range definitions {
		n.add(client, d.Name)
	}
}

// add needs the lock.
func (n *names) add(client, name string) {
	shown := plainName(name)
	for _, r := range renamed {
		if r.name == name && strings.HasPrefix(client, r.client) {
			shown = r.shown
		}
	}
	if shown != name {
		n.known[shown] = name
	}
}

func (n *names) table() map[string]string {
	n.mu.Lock()
	known := n.known
	n.mu.Unlock()
	if known == nil {
		n.learn("", nil)
		return n.table()
	}
	return known // never changed, only replaced
}

// canonical is the contract's name; a name that is it already, or unknown, stays.
func (n *names) canonical(name string) string {
	if ours, ok := n.table()[name]; ok {
		return ours
	}
	return name
}

// shown is the name that the model knows a tool by.
func (n *names) shown(name string) string {
	for shown, ours := range n.table() {
		if ours == name {
			return shown
		}
	}
	return name
}

// plainText puts the names that the model knows into a text for it.
func (n *names) plainText(text string) string {
	for shown, ours := range n.table() {
		text = strings.ReplaceAll(text, ours, shown)
	}
	return text
}

// handleCall sees to calls, once the handshake is over. All else is left to the SDK.
func (s *server) handleCall(e envelope) (mine bool) {
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
	c.revision = s.revision()
	if c.revision >= newProtocol && (c.Meta.Revision != newProtocol || !bytes.HasPrefix(c.Meta.Capabilities, []byte("{"))) {
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
	s.out.reply(r, "error", encoded(e))
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
