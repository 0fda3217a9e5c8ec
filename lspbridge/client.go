package lspbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/document"
)

// client is one life of a server's program: the connection to it, what it offers, and
// what is open in it.
type client struct {
	server   *server
	child    Child
	conn     *wire.Conn
	ended    chan struct{} // closed when nothing more comes from it
	offers   abilities
	encoding encoding
	watches  registrations
	pulse    pulse
	served   atomic.Bool // it was of some use
	reports  *reports
	linter   linterCheck

	configured chan struct{} // closed when it has asked for its configuration
	askedOnce  sync.Once

	mu   sync.Mutex // guards documents, and makes bringing them up and asking one step
	docs map[workspace.Path]*openDocument

	seeing sync.Mutex                         // guards seen
	seen   map[string]protocol.FileChangeType // files that it watches and that changed, and how; nil: no timer runs
}

func newClient(s *server, child Child) *client {
	c := &client{server: s, child: child, ended: make(chan struct{}), configured: make(chan struct{}), linter: linterCheck{answered: make(chan struct{})}, encoding: utf16, reports: newReports(s.spec.Debounce), docs: map[workspace.Path]*openDocument{}}
	c.conn = wire.NewConn(wire.Stdio(listened{child.Stdout, &c.pulse}, child.Stdin), wire.Options{
		Handler: c.handle,
		Inline:  func(string) bool { return true }, // no answer of ours waits for anything
		Logf:    s.logf,

		WriteBudget: mostUnread,
	})
	go c.follow()
	return c
}

// follow closes ended when the program or its output has ended, whichever is first: a
// program may close its output and live on, and what it started may keep it open.
func (c *client) follow() {
	defer close(c.ended)
	select {
	case <-c.conn.Done():
	case <-c.child.Done:
		_ = c.conn.Close()
	}
}

// mostUnread is how many bytes may wait for a server that does not read. A text that is
// larger goes alone.
const mostUnread = 16 << 20

// listened is a program's output. That something comes is a sign of life.
type listened struct {
	io.ReadCloser
	pulse *pulse
}

func (l listened) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	if n > 0 {
		l.pulse.beat()
	}
	return n, err
}

// initialize is LSP's first exchange.
func (c *client) initialize(ctx context.Context) error {
	root := c.server.root
	params := map[string]any{
		"processId":        os.Getpid(),
		"clientInfo":       map[string]string{"name": "pillion"},
		"rootUri":          root.URI(),
		"rootPath":         root.Abs(),
		"workspaceFolders": c.server.folders(),
		"capabilities":     json.RawMessage(capabilities),
	}
	if c.server.spec.Options != nil {
		params["initializationOptions"] = c.server.spec.Options
	}
	var result struct {
		Capabilities abilities `json:"capabilities"`
	}
	if err := c.conn.Call(ctx, "initialize", params, &result); err != nil {
		return c.notInitialized(err)
	}
	c.offers = result.Capabilities
	switch e := c.offers.PositionEncoding; {
	case e.known():
		c.encoding = e
	case c.server.spec.Characters != "":
		c.encoding = c.server.spec.Characters
	}
	if err := c.conn.Notify("initialized", struct{}{}); err != nil {
		return err
	}
	settings := c.server.spec.Settings
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	if err := c.conn.Notify("workspace/didChangeConfiguration", map[string]any{"settings": settings}); err != nil {
		return err
	}
	for _, method := range c.server.spec.First {
		if err := c.conn.Notify(method, struct{}{}); err != nil {
			return err
		}
	}
	if c.server.spec.AsksFirst {
		c.awaitConfigured(ctx)
	}
	return c.showFault()
}

// notInitialized is why the first exchange failed. One that was waited for in vain says
// what a person can do about it, which is all that they will read.
func (c *client) notInitialized(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it did not answer initialize: %w", err)
	}
	spec := c.server.spec
	return fmt.Errorf("it did not answer initialize within %v: run %s in a terminal to see if it starts, or set languageServers.servers.%s.enabled to false",
		c.server.bridge.patience.start, strings.Join(spec.Command, " "), spec.Name)
}

// configurationTime is how long is waited for a server to ask for its configuration.
const configurationTime = 5 * time.Second

// awaitConfigured waits until the server has the configuration that it asked for. The
// request after it has no meaning: what answers it was read after our answer.
func (c *client) awaitConfigured(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, configurationTime)
	defer cancel()
	select {
	case <-c.configured:
		_ = c.conn.Call(ctx, unknownMethod, nil, nil)
	case <-c.ended:
	case <-ctx.Done():
	}
}

// shutdown asks the program to end.
func (c *client) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), c.server.bridge.patience.ending)
	defer cancel()
	if c.conn.Call(ctx, "shutdown", nil, nil) == nil && c.conn.Notify("exit", nil) == nil {
		select {
		case <-c.child.Done:
		case <-ctx.Done():
		}
	}
}

// end ends the program and the connection, whatever they do.
func (c *client) end() {
	c.child.Kill()
	<-c.child.Done
	_ = c.conn.Close()
	<-c.ended
}

// lastWords is why the program ended, as far as anybody knows.
func (c *client) lastWords(err error) error {
	if err == nil || errors.Is(err, wire.ErrClosed) {
		err = c.conn.Err()
	}
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = c.ending() // which says more than that the pipe is no more
	}
	if said := strings.TrimSpace(c.child.Stderr()); said != "" {
		err = fmt.Errorf("%w; it printed: %s", err, lastLine(said))
	}
	return err
}

// ending is how the program ended.
func (c *client) ending() error {
	timer := time.NewTimer(c.server.bridge.patience.ending)
	defer timer.Stop()
	select {
	case <-c.child.Done:
		if c.child.Err != nil {
			return c.child.Err()
		}
		return errors.New("it ended")
	case <-timer.C:
		return errors.New("it closed its output")
	}
}

func lastLine(s string) string {
	return clip(s[strings.LastIndexByte(s, '\n')+1:], 300)
}

// ask brings everything up to the snapshot and asks. Both are one step: no other
// question has another text put in between.
func (c *client) ask(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (json.RawMessage, error) {
	c.notifyWatched(ctx)
	for tries := 0; ; tries++ {
		wait, err := c.begin(ctx, s, p, q)
		if err != nil {
			return nil, err
		}
		var out json.RawMessage
		err = wait(&out)
		if tries < 2 && changedMeanwhile(err) {
			continue
		}
		if err == nil {
			c.served.Store(true)
		}
		if errors.Is(err, wire.ErrClosed) {
			c.server.lost(c)
		}
		return out, answered(ctx, c.server.spec, q.method, err)
	}
}

// request sends what has to be answered.
func (c *client) request(ctx context.Context, method string, params any) (wait func(any) error, err error) {
	c.pulse.owe(true)
	wait, err = c.conn.Begin(ctx, method, params)
	return wait, c.gone(err)
}

// gone makes errGone of the error of what could not be sent. Then nobody gets this client
// any more.
func (c *client) gone(err error) error {
	if !errors.Is(err, wire.ErrClosed) {
		return err
	}
	c.server.lost(c)
	return errGone
}

// unknownMethod is a request that no server knows. It has to answer all the same.
const unknownMethod = "$/pillion"

// probe asks a server for a sign of life, if it owes none yet. It does not wait.
func (c *client) probe() {
	if silent, _ := c.pulse.silent(); silent > 0 || !c.server.bridge.work() {
		return
	}
	c.pulse.owe(false)
	go func() {
		defer c.server.bridge.running.Done()
		ctx, cancel := context.WithTimeout(c.server.ctx, c.server.bridge.patience.silence)
		defer cancel()
		_ = c.conn.Call(ctx, unknownMethod, nil, nil) //nolint:errcheck // that something comes counts
	}()
}

// wait is a context for waiting so long, or not at all if the server hangs.
func (c *client) wait(ctx context.Context, long time.Duration) (context.Context, context.CancelFunc) {
	if silent, _ := c.pulse.silent(); silent >= long {
		long = 0
	}
	return context.WithTimeout(ctx, long)
}

// changedMeanwhile: the server has given up because of a change, and wants to be asked again.
func changedMeanwhile(err error) bool {
	var said *wire.Error
	return errors.As(err, &said) && (said.Code == wire.CodeContentModified || said.Code == wire.CodeServerCancelled)
}

func (c *client) begin(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (func(any) error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, text, err := c.syncLocked(s, p)
	if err != nil {
		return nil, err
	}
	wait, err := c.request(ctx, q.method, q.params(string(d.uri), counting{encoding: c.encoding, text: text}))
	return wait, answered(ctx, c.server.spec, q.method, err)
}

// can says if the server answers a question.
func (c *client) can(q question) bool { return q.offers(&c.offers).offered || c.watches.has(q.method) }

// knows is false for a file that is open in the server with another text.
func (c *client) knows(p workspace.Path, text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[p]
	return d == nil || d.sum == sumOf(text)
}

// handle is what a server may send: it runs on the goroutine that reads, in order.
func (c *client) handle(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	if req.Notification {
		c.notified(req)
		return nil, nil
	}
	answer, known := answers[req.Method]
	if !known {
		return nil, wire.Errorf(wire.CodeMethodNotFound, "there is no method %q", req.Method)
	}
	return answer(c, req.Params)
}

// answers are all that a server may ask of us. Each is there at once.
var answers = map[string]func(c *client, params json.RawMessage) (any, error){
	"workspace/configuration":        (*client).configuration,
	"workspace/workspaceFolders":     func(c *client, _ json.RawMessage) (any, error) { return c.server.folders(), nil },
	"window/workDoneProgress/create": nothing,
	"client/registerCapability":      (*client).register,
	"client/unregisterCapability":    (*client).unregister,
	"window/showMessageRequest":      nothing,
	"window/showDocument":            func(*client, json.RawMessage) (any, error) { return protocol.ShowDocumentResult{}, nil },
	"workspace/applyEdit": func(*client, json.RawMessage) (any, error) {
		return map[string]any{"applied": false, "failureReason": "changes are made by those who ask for them"}, nil
	},
	"workspace/diagnostic/refresh":     (*client).refresh,
	"workspace/semanticTokens/refresh": nothing,
	"workspace/codeLens/refresh":       nothing,
	"workspace/inlayHint/refresh":      nothing,
	"workspace/inlineValue/refresh":    nothing,
	"workspace/foldingRange/refresh":   nothing,
}

func nothing(*client, json.RawMessage) (any, error) { return nil, nil }

// notified takes a notification.
func (c *client) notified(req *wire.Request) {
	switch req.Method {
	case "textDocument/publishDiagnostics":
		c.published(req.Params)
	case "$/progress":
		c.progress(req.Params)
	case "window/logMessage", "window/showMessage":
		var m protocol.LogMessageParams
		if json.Unmarshal(req.Params, &m) == nil {
			c.server.note(m.Message)
		}
	}
}

// configuration answers item by item: null for a section that nothing is set in.
func (c *client) configuration(params json.RawMessage) (any, error) {
	defer c.askedOnce.Do(func() { close(c.configured) })
	var p protocol.ConfigurationParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "workspace/configuration: %v", err)
	}
	out := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		name := ""
		if item.Section != nil {
			name = *item.Section
		}
		out[i] = section(c.server.spec.Settings, name)
	}
	return out, nil
}

// section is what stands under a dotted name, null if nothing does.
func section(settings json.RawMessage, name string) json.RawMessage {
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	if name == "" {
		return settings
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(settings, &object) != nil {
		return json.RawMessage("null")
	}
	if value, ok := object[name]; ok { // also written with its dots
		return value
	}
	first, rest, more := strings.Cut(name, ".")
	value, ok := object[first]
	if !ok || !more {
		return json.RawMessage("null")
	}
	return section(value, rest)
}

// folders are all that a server has of the workspace: its root.
func (s *server) folders() []protocol.WorkspaceFolder {
	return []protocol.WorkspaceFolder{{URI: uri.URI(s.root.URI()), Name: s.root.Base()}}
}
