package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// agent is one connection, which is one session.
type agent struct {
	server *Server
	conn   *wire.Conn
	stream *stream
	ended  chan struct{} // closed when nothing of the connection is left

	hello   chan struct{} // closed when the agent has introduced itself
	known   sync.Once     // closes it
	session atomic.Pointer[session.Session]
	hi      atomic.Pointer[Hello] // what the agent said of itself
	called  atomic.Bool           // its session is in use
	heard   atomic.Int64          // when it asked for something last, Unix nanoseconds
}

func newAgent(s *Server, conn net.Conn) *agent {
	a := &agent{server: s, stream: &stream{Conn: conn}, ended: make(chan struct{}), hello: make(chan struct{})}
	a.heard.Store(time.Now().UnixNano())
	wire.NewConn(a.stream, wire.Options{
		Handler: a.handle,
		Ready:   func(c *wire.Conn) { a.conn = c }, // before the first message is read
		// On the read loop, so that what follows it finds the session.
		Inline:  func(method string) bool { return method == methodHello },
		Workers: 32, Queue: 256,
		Budget: wire.Requests, Sheds: true,
		Logf: s.host.Logf,
	})
	return a
}

// stream can be told to end when what is being said has been written.
type stream struct {
	net.Conn
	last atomic.Bool
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	if s.last.Load() {
		_ = s.Close()
	}
	return n, err
}

// serveUntilEnd returns when the connection has ended; the session ends with it, and it
// with the session.
func (a *agent) serveUntilEnd() {
	select {
	case <-a.hello:
	case <-a.conn.Done():
	case <-time.After(a.server.host.hello):
		_ = a.conn.Close()
	}
	s := a.session.Load()
	if s == nil {
		<-a.conn.Done()
		return
	}
	select {
	case <-a.conn.Done():
		a.server.host.Sessions.Close(s.ID())
	case <-s.Closed(): // the user ended it
		_ = a.conn.Close()
		<-a.conn.Done()
	}
}

func (a *agent) handle(ctx context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	if req.Notification {
		return nil, nil
	}
	a.heard.Store(time.Now().UnixNano())
	switch req.Method {
	case methodHello:
		return a.greet(req.Params)
	case methodPrompt:
		return a.server.prompt(req.Params)
	case methodReview:
		return a.review(ctx, req.Params)
	}
	owner := a.session.Load()
	if owner == nil {
		return nil, wire.Errorf(wire.CodeServerNotInitialized, "agent/hello must come first")
	}
	switch req.Method {
	case methodList:
		return a.list(owner, req.Params)
	case methodCall:
		raw := req.Params
		req.Params = nil // who has decoded them need not hold them
		return a.call(ctx, owner, raw)
	}
	return nil, wire.Errorf(wire.CodeMethodNotFound, "agents cannot call %q; there are tools/list and tools/call", req.Method)
}

// greet checks the token and opens the connection's session. The connection ends
// after a refusal.
func (a *agent) greet(raw json.RawMessage) (any, error) {
	if a.session.Load() != nil {
		return nil, wire.Errorf(wire.CodeInvalidRequest, "agent/hello was already sent")
	}
	owner, secret, err := a.open(raw)
	if err != nil {
		a.stream.last.Store(true)
		return nil, err
	}
	a.session.Store(owner)
	a.known.Do(func() { close(a.hello) })
	return Welcome{ProtocolVersion: ProtocolVersion, Editor: a.server.host.Editor, Version: a.server.host.Version, Form: a.hi.Load().Form, SessionID: owner.ID(), Secret: secret}, nil
}

func (a *agent) open(raw json.RawMessage) (_ *session.Session, secret string, _ error) {
	var h Hello
	if err := decode(raw, &h); err != nil {
		return nil, "", err
	}
	if err := a.server.check(h); err != nil {
		return nil, "", err
	}
	var back session.Proof
	if h.Session != nil {
		back = *h.Session
	}
	who := session.Agent{Name: label(h.Agent.Name, "agent"), Version: label(h.Agent.Version, ""), Via: "mcp"}
	owner, secret, err := a.server.host.Sessions.Admit(who, filepath.Clean(h.Cwd), back)
	if err != nil {
		return nil, "", wire.Errorf(wire.CodeBusy, "%v", err)
	}
	owner.Offer(h.Tools)
	owner.SetDialect(h.Dialect)
	h.Session = nil // its secret is needed no longer
	a.hi.Store(&h)
	return owner, secret, nil
}

func (s *Server) prompt(raw json.RawMessage) (any, error) {
	var p Prompt
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if !sameSecret(p.Token, s.entry.Token) || !s.host.Sessions.Prompted(p.Session, p.Text) {
		return nil, wire.Errorf(wire.CodeInvalidRequest, "the token or the session is wrong")
	}
	return struct{}{}, nil
}

// review asks the user about a draft.
func (a *agent) review(ctx context.Context, raw json.RawMessage) (any, error) {
	var p Review
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if !sameSecret(p.Token, a.server.entry.Token) {
		return nil, wire.Errorf(wire.CodeInvalidRequest, "the token is wrong")
	}
	a.known.Do(func() { close(a.hello) }) // it takes as long as the user does
	owner, open := a.server.host.Sessions.Get(p.Session)
	if !open {
		owner = session.New(p.Session, session.Agent{Name: "draft"}, policy.Draft)
	}
	if _, has := a.server.host.Registry.DraftOf(ctx, owner); !has {
		return Reviewed{No: true}, nil
	}
	defer wire.Waiting(ctx)()
	var text []string
	for _, part := range a.server.host.Registry.ReviewDraft(ctx, owner).Content {
		text = append(text, part.Text)
	}
	return Reviewed{Text: strings.Join(text, "\n")}, nil
}

// check says what is wrong with how an agent introduces itself.
func (s *Server) check(h Hello) error {
	switch {
	case !sameSecret(h.Token, s.entry.Token):
		return wire.Errorf(wire.CodeInvalidRequest, "the token is wrong; read it again from the registry's entry")
	case h.ProtocolVersion != ProtocolVersion:
		return wire.Errorf(wire.CodeInvalidParams, "protocol version %d is not spoken here, only %d; use the pillion that the editor runs (%s)",
			h.ProtocolVersion, ProtocolVersion, s.host.Version)
	case h.Form != "" && h.Form != FormText:
		return wire.Errorf(wire.CodeInvalidParams, "unknown form %s; leave it out, or say %q", fault.Quote(h.Form), FormText)
	case h.PageBytes < 0 || h.RangeBytes < 0:
		return wire.Errorf(wire.CodeInvalidParams, "pageBytes and rangeBytes must not be negative")
	case tools.CheckDialect(h.Dialect) != nil:
		return wire.Errorf(wire.CodeInvalidParams, "%v", tools.CheckDialect(h.Dialect))
	case h.Cwd != "" && !filepath.IsAbs(h.Cwd):
		return wire.Errorf(wire.CodeInvalidParams, "cwd must be an absolute path")
	}
	return nil
}

// sameSecret takes the same time however much of the two is equal.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// label makes what an agent says of itself fit for a dialog: one visible line.
func label(s, otherwise string) string {
	const most = 80
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if s == "" {
		return otherwise
	}
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fault.Escape(s)
}

func (a *agent) list(owner *session.Session, raw json.RawMessage) (any, error) {
	var p struct {
		Dialect string   `json:"dialect"`
		Allowed []string `json:"allowed"`
		Refresh bool     `json:"refresh"`
	}
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if err := tools.CheckDialect(p.Dialect); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	if p.Refresh {
		a.server.host.Registry.Found.Refresh()
	}
	definitions := a.server.host.Registry.DefinitionsIn(p.Dialect, owner, p.Allowed)
	if a.structures() {
		definitions = tools.WithResults(definitions)
	}
	return map[string]any{"tools": definitions}, nil
}

func (a *agent) call(ctx context.Context, owner *session.Session, raw json.RawMessage) (any, error) {
	var p Call
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Name == "":
		return nil, wire.Errorf(wire.CodeInvalidParams, "name is missing: give the tool to call")
	case p.TimeoutSeconds < 0 || p.TimeoutSeconds > maxTimeout.Seconds():
		return nil, wire.Errorf(wire.CodeInvalidParams, "timeoutSeconds must be between 0 and %g", maxTimeout.Seconds())
	case len(p.ProgressToken) > maxToken:
		return nil, wire.Errorf(wire.CodeInvalidParams, "progressToken is longer than %d bytes", maxToken)
	}
	hello := a.hi.Load()
	call := tools.Call{
		Name: p.Name, Arguments: p.Arguments, CallID: rand.Text(), Session: owner,
		RequiresApproval: p.RequiresApproval, Timeout: time.Duration(p.TimeoutSeconds * float64(time.Second)),
		PageBytes: hello.PageBytes, RangeBytes: hello.RangeBytes,
	}
	if len(p.ProgressToken) > 0 && string(p.ProgressToken) != "null" {
		defer a.report(&call, p.ProgressToken, p.Quiet)()
	}
	a.called.Store(true)
	a.server.calls.Add(1)
	defer a.server.calls.Add(-1)
	result := a.server.host.Registry.Execute(ctx, call)
	if ctx.Err() != nil && result.Cancelled() {
		return nil, wire.Errorf(wire.CodeRequestCancelled, "the call was cancelled")
	}
	switch {
	case !a.structures():
		return wire.Raw(bytes.Join(result.ContentPieces(), nil)), nil
	case hello.Brief:
		return briefly(result), nil
	}
	return wire.Raw(bytes.Join(result.Pieces(), nil)), nil
}

// structures: results have structuredContent.
func (a *agent) structures() bool {
	return a.hi.Load().Form != FormText || a.server.host.Structured()
}

const maxToken = 1024 // bytes of a progress token

// decode reads params. A session is the connection's and cannot be named.
func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if bytes.Contains(raw, []byte(`"sessionId"`)) { // spares large arguments a second reading
		var named struct {
			SessionID json.RawMessage `json:"sessionId"`
		}
		if json.Unmarshal(raw, &named) == nil && named.SessionID != nil {
			return wire.Errorf(wire.CodeInvalidParams, "sessionId cannot be given here: a connection is its own session")
		}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return wire.Errorf(wire.CodeInvalidParams, "the params cannot be read: %v", err)
	}
	return nil
}

// report has the call's output sent as progress, unless it is to be quiet, and a sign of
// life while it takes its time, so that the agent's clock does not run out. stop ends that.
func (a *agent) report(call *tools.Call, token json.RawMessage, quiet bool) (stop func()) {
	if !quiet {
		call.Output = func(stream, text string) {
			_ = a.conn.Progress(token, wire.TextChunk{Stream: stream, Text: text}, "") // the result carries the output too
		}
	}
	// Without delay: of a call that was only asked about it is known that nothing was done, also when
	// this program is killed.
	var asked atomic.Bool
	call.Waits = func(waits bool) {
		asked.Store(waits)
		state := Progress{Kind: "report", Message: call.Name + " is running"}
		if waits {
			state = waiting("your approval", a.server.host.Editor)
		}
		_ = a.conn.Progress(token, state, "state")
	}
	return Beat(a.server.host.Beat, func() {
		state := StateOf(a.server.host.Registry, call, a.server.host.Editor)
		if asked.Load() { // also while its dialog goes because this program ends
			state = waiting("your approval", a.server.host.Editor)
		}
		_ = a.conn.Progress(token, state, "state")
	})
}

// Beat has a sign of life given at each interval, first within a second, until stop is called.
func Beat(interval time.Duration, sign func()) (stop func()) {
	var mu sync.Mutex // guards what follows, and is held while a sign is given
	ended := false
	mu.Lock()
	defer mu.Unlock()
	var next *time.Timer
	next = time.AfterFunc(min(interval, time.Second), func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			sign()
			next.Reset(interval)
		}
	})
	return func() {
		next.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}

// StateOf says what a call is doing: to people in words, and to programs whether it waits
// for a person. Without an editor its name is empty.
func StateOf(registry *tools.Registry, call *tools.Call, editor string) Progress {
	for _, r := range registry.Approvals.Waiting() {
		if r.CallID == call.CallID {
			return waiting("your approval", editor)
		}
	}
	if call.Name == "prompt_user" || call.Name == "exit_plan_mode" {
		return waiting("your answer", editor)
	}
	return Progress{Kind: "report", Message: call.Name + " is running"}
}

func waiting(what, editor string) Progress {
	if editor != "" {
		what += " in " + editor
	}
	return Progress{Kind: "report", Message: "waiting for " + what, Waiting: true}
}
