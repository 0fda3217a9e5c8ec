// Package rpc is the editor's side: the wire between an editor and the sidecar
// that it spawned. It is the only package that knows that wire.
//
// Serve is the entry point. The connection itself (frames, order, cancellation,
// back-pressure) is internal/wire's; here are the lifecycle of a language server,
// the documents that the editor keeps open, the calls that it relays, and the
// dialogs and edits that the sidecar asks of it. What a tool does is not here.
package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"pillion/conversation"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// Options are what Serve is given.
type Options struct {
	Version string
	// Start brings the sidecar to life once the editor has said what it opens.
	Start func(s Setup) (*Core, error)
	Logf  func(format string, args ...any)
	// Agents are those that can be set up to use Pillion.
	Agents []Agent
}

// Agent is a program that can be set up, by the name that `pillion mcp install` takes and the
// name that people know.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Setup is what the editor's initialize decides.
type Setup struct {
	Folders  []workspace.Folder
	Settings json.RawMessage // the initializationOptions as they came
	Asker    approval.Asker
	Human    tools.Human
	Editor   change.Editor
	Client   string // the editor's name
	Events   Events
	// Languages asks the language servers that the editor runs; nil if it offers none.
	Languages Languages
}

// Core is a running sidecar, as far as the editor's side needs it.
type Core struct {
	Documents *document.Store
	Registry  *tools.Registry
	Sessions  *session.Set
	Processes *process.Table
	// Configure takes new settings, the object as under "pillion".
	Configure func(json.RawMessage)
	// Ready notes that the editor takes notifications.
	Ready func()
	// Trust has the text of that hash trusted, if the file holds it now.
	Trust func(path, hash string) error
	// Ignore has nobody asked about that text, likewise.
	Ignore func(path, hash string) error
	// ForgetRule drops a rule that was remembered for a folder.
	ForgetRule func(folder, rule string) error
	// Focused notes that this window is the one the user used last.
	Focused func()
	// Notify shows a line to a user who is in no window of the editor, with or without a sound, and does not wait.
	Notify func(text string, sound bool)
	// Opened notes that the editor opened a file.
	Opened func(workspace.Path)
	// Saved notes that the editor wrote a file, WatchedFiles that its own watcher saw
	// these change.
	Saved        func(workspace.Path)
	WatchedFiles func(uris []string)
	// FoldersChanged notes that other folders are open now.
	FoldersChanged func()
	Conversations  *conversation.Set
	Gateway        Gateway
	// Relay is where agents that the editor starts connect, "" without one.
	Relay func() (socket, token string)
	Close func() error
}

// state is where a connection stands in the lifecycle of a language server.
type state int

const (
	created state = iota
	running
	stopping // after shutdown
)

// server is one editor's connection.
type server struct {
	options Options
	conn    *wire.Conn
	exited  chan struct{} // closed by exit
	once    sync.Once

	progress progress
	statuses statuses
	bars     bars
	doubts   doubts
	screens  screens
	drafts   draftNews
	away     atomic.Bool // the user has left the window
	sounds   atomic.Bool // and wants to hear when something is asked

	mu      sync.Mutex // guards all below
	state   state
	core    *Core
	client  client
	dialogs *dialogs
}

// Serve speaks with one editor until it leaves: by exit, by closing its end, or
// by dying. It returns the exit code that LSP asks for: 0 after shutdown and
// exit, else 1. Nothing that the sidecar started outlives it.
func Serve(ctx context.Context, stream io.ReadWriteCloser, o Options) int {
	s := &server{options: o, exited: make(chan struct{})}
	wire.NewConn(stream, wire.Options{
		Ready:    func(c *wire.Conn) { s.conn = c },
		Handler:  func(ctx context.Context, _ *wire.Conn, req *wire.Request) (any, error) { return s.handle(ctx, req) },
		Inline:   func(method string) bool { return methods[method].inline },
		Ahead:    func(method string) bool { return methods[method].ahead },
		Budget:   wire.Requests,
		Outgoing: shown,
		Logf:     o.Logf,
	})
	select {
	case <-s.exited:
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	s.conn.Close() //nolint:errcheck // the editor is gone
	<-s.conn.Done()
	s.mu.Lock()
	core, clean := s.core, s.state == stopping
	s.mu.Unlock()
	if core != nil {
		if err := core.Close(); err != nil {
			o.Logf("shutting down: %v", err)
		}
	}
	if clean {
		return 0
	}
	return 1
}

// method is how one message is handled. Requests are inline only where their
// order among the notifications matters.
type method struct {
	inline bool
	ahead  bool // a person's own, which waits for no agent's calls
	early  bool // allowed before initialize
	late   bool // allowed after shutdown
	handle handler
}

// handler answers one method, whose params are JSON.
type handler func(s *server, ctx context.Context, params json.RawMessage) (any, error)

// with decodes the params of one of our own methods. Keys that are not known are passed over:
// the wire grows by addition.
func with[P any](do func(*server, context.Context, P) (any, error)) handler {
	return decoded(func(raw []byte, into any) error {
		if len(raw) == 0 {
			return nil
		}
		return json.Unmarshal(raw, into)
	}, do)
}

// withLSP decodes those of LSP, whose unions need this library's codec.
func withLSP[P any](do func(*server, context.Context, P) (any, error)) handler {
	return decoded(func(raw []byte, into any) error { return protocol.Unmarshal(raw, into) }, do)
}

func decoded[P any](decode func([]byte, any) error, do func(*server, context.Context, P) (any, error)) handler {
	return func(s *server, ctx context.Context, raw json.RawMessage) (any, error) {
		var p P
		if err := decode(raw, &p); err != nil {
			return nil, wire.Errorf(wire.CodeInvalidParams, "the params do not fit: %v", err)
		}
		return do(s, ctx, p)
	}
}

// methods is the editor's method table. It is filled by init because handlers
// refer to it.
var methods map[string]method

func init() {
	methods = map[string]method{
		"initialize":  {inline: true, early: true, handle: withLSP((*server).initialize)},
		"initialized": {handle: (*server).initialized},
		"shutdown":    {inline: true, handle: (*server).shutdown},
		"exit":        {early: true, late: true, handle: (*server).exit},

		"textDocument/didOpen":                {handle: withLSP((*server).didOpen)},
		"textDocument/didChange":              {handle: withLSP((*server).didChange)},
		"textDocument/didSave":                {handle: withLSP((*server).didSave)},
		"textDocument/didClose":               {handle: withLSP((*server).didClose)},
		"document/state":                      {handle: with((*server).documentState)},
		"workspace/didChangeWatchedFiles":     {handle: with((*server).didChangeWatchedFiles)},
		"workspace/didChangeWorkspaceFolders": {handle: withLSP((*server).didChangeWorkspaceFolders)},
		"workspace/didChangeConfiguration":    {handle: with((*server).didChangeConfiguration)},
		"window/focused":                      {handle: with((*server).focused)},
		"window/workDoneProgress/cancel":      {handle: with((*server).workDoneProgressCancel)},
		"$/setTrace":                          {handle: (*server).nothing},

		"tools/list":     {handle: with((*server).toolsList)},
		"tools/call":     {handle: with((*server).toolsCall)},
		"tools/approval": {handle: with((*server).toolsApproval)},

		"session/open":    {inline: true, handle: with((*server).sessionOpen)},
		"session/close":   {inline: true, handle: with((*server).sessionClose)},
		"session/list":    {inline: true, handle: (*server).sessionList},
		"session/setMode": {inline: true, handle: onSession((*server).sessionSetMode)},
		"session/newTurn": {inline: true, handle: onSession((*server).sessionNewTurn)},
		"session/pause":   {inline: true, handle: onSession((*server).sessionPause)},
		"session/todos":   {inline: true, handle: onSession((*server).sessionTodos)},
		"session/revoke":  {inline: true, handle: onSession((*server).sessionRevoke)},

		"activity/show": {ahead: true, handle: with((*server).activityShow)},

		"draft/list":    {ahead: true, handle: (*server).draftList},
		"draft/review":  {ahead: true, handle: with((*server).draftReview)},
		"draft/discard": {ahead: true, handle: with((*server).draftDiscard)},

		"journal/list":   {ahead: true, handle: with((*server).journalList)},
		"journal/revert": {ahead: true, handle: with((*server).journalRevert)},

		"settings/trust":  {ahead: true, handle: with((*server).settingsTrust)},
		"settings/ignore": {ahead: true, handle: with((*server).settingsIgnore)},
		"rules/forget":    {ahead: true, handle: with((*server).rulesForget)},

		"process/list":  {ahead: true, handle: with((*server).processList)},
		"process/kill":  {ahead: true, handle: with((*server).processKill)},
		"process/write": {ahead: true, handle: with((*server).processWrite)},

		"conversation/list": {ahead: true, handle: (*server).conversationList},
		"conversation/send": {ahead: true, handle: with((*server).conversationSend)},
		"context/update":    {ahead: true, handle: with((*server).contextUpdate)},
		"context/list":      {ahead: true, handle: with((*server).contextList)},

		"gateway/connect":    {ahead: true, handle: with((*server).gatewayConnect)},
		"gateway/disconnect": {ahead: true, handle: with((*server).gatewayDisconnect)},
		"gateway/status":     {ahead: true, handle: (*server).gatewayStatus},
		"agent/message":      {inline: true, handle: (*server).agentMessage},

		"relay/info":               {handle: (*server).relayInfo},
		"workspace/executeCommand": {ahead: true, handle: with((*server).executeCommand)},
	}
}

func (s *server) handle(ctx context.Context, req *wire.Request) (any, error) {
	m, known := methods[req.Method]
	if err := s.admit(req.Method, m, known); err != nil {
		return nil, err
	}
	raw := req.Params
	req.Params = nil // who has decoded them need not hold them
	return m.handle(s, ctx, raw)
}

// admit holds LSP's lifecycle in one place.
func (s *server) admit(name string, m method, known bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == created && !m.early:
		return wire.Errorf(wire.CodeServerNotInitialized, "%s before initialize; initialize first", name)
	case s.state == stopping && !m.late:
		return wire.Errorf(wire.CodeInvalidRequest, "%s after shutdown; only exit is possible", name)
	case !known:
		return wire.Errorf(wire.CodeMethodNotFound, "unknown method: %s", name)
	}
	return nil
}

// running gives the core, which is there whenever admit let a message through.
func (s *server) running() *Core {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core
}

// asks gives the dialogs, which are there as long as the core is.
func (s *server) asks() *dialogs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogs
}

// clientName is what the editor calls itself.
func (s *server) clientName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Name
}

func (s *server) nothing(context.Context, json.RawMessage) (any, error) { return nil, nil }

func (s *server) exit(context.Context, json.RawMessage) (any, error) {
	s.once.Do(func() { close(s.exited) })
	return nil, nil
}

// shutdown ends what runs: nobody is to say yes to a question of an editor that leaves,
// and each of its requests is answered before it does.
func (s *server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	s.state = stopping
	s.mu.Unlock()
	s.conn.CancelRequests()
	return json.RawMessage("null"), nil
}

// watchParent closes the connection when the process that spawned us is gone.
// Pipes usually tell first; a parent whose children hold the pipes open does not.
func (s *server) watchParent(pid int) {
	if pid <= 0 || !processExists(pid) {
		return // in another PID namespace, or gone already: stdin will tell
	}
	go func() {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-s.conn.Done():
				return
			}
			if !processExists(pid) {
				s.options.Logf("the editor (process %d) is gone", pid)
				s.conn.Close() //nolint:errcheck // the editor is gone
				return
			}
		}
	}()
}

const parentInterval = time.Second

// messageType is the severity of window/logMessage and showMessageRequest.
type messageType int

const (
	messageError   messageType = 1
	messageWarning messageType = 2
	messageInfo    messageType = 3
)

type logMessage struct {
	Type    messageType `json:"type"`
	Message string      `json:"message"`
}

// showMessage shows the user a message, and writes it to the log.
func (s *server) showMessage(kind messageType, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.options.Logf("%s", text)
	s.conn.Notify("window/logMessage", logMessage{kind, text}) //nolint:errcheck // it is in the log
}

// show puts a message before the user, who need not answer it.
func (s *server) show(kind messageType, format string, args ...any) {
	s.conn.Notify("window/showMessage", logMessage{kind, fmt.Sprintf(format, args...)}) //nolint:errcheck // what matters is asked, or listed by pillion.status
}
