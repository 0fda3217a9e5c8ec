// Package testrig is what tests stand on: an editor that speaks to the real
// sidecar over real pipes and does on demand what a real editor will not.
package testrig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/testrig/check"
	"pillion/internal/testrig/machine"
	"pillion/internal/wire"
	"pillion/workspace/document"
)

// Patience is how long a test waits for what must happen.
const Patience = time.Minute

// Editor is a fake editor that has spawned `pillion serve`.
type Editor struct {
	Conn    *wire.Conn
	Command *exec.Cmd
	Dir     string
	Home    string

	// Approvals are the dialogs that opened, in order; answer each by its channel.
	Approvals chan *Approval
	Prompts   chan *Prompt
	Plans     chan *Plan
	Reviews   chan *Review
	Changed   chan json.RawMessage // approval/changed
	Resolved  chan json.RawMessage // approval/resolved
	Boxes     chan *Box            // window/showMessageRequest
	Progress  chan json.RawMessage // $/progress
	Created   chan string          // tokens of window/workDoneProgress/create
	Messages  chan string          // window/showMessage
	Logs      chan string          // window/logMessage, the first ones
	Untrusted chan Untrusted       // settings/untrusted
	Journal   chan Journal         // journal/changed
	Shown     chan string          // URIs of window/showDocument
	Files     chan json.RawMessage // workspace/changed
	Tracking  chan json.RawMessage // workspace/tracking
	Index     chan json.RawMessage // workspace/index
	Unusual   chan json.RawMessage // session/unusual

	t       testing.TB
	plain   bool
	answers func(ctx context.Context, method string, params json.RawMessage) (any, error) // Options.Languages
	stdin   io.WriteCloser
	mu      sync.Mutex // guards buffers
	buffers map[string]*Buffer
	// OnEdit, if set, answers document/edit instead of the editor's own way.
	OnEdit func(params json.RawMessage) (any, error)
	// OnApplyEdit, if set, answers workspace/applyEdit instead of the editor's own way.
	OnApplyEdit func(params json.RawMessage) (any, error)
	// OnBox, if set, answers window/showMessageRequest at once.
	OnBox    func() (any, error)
	onOutput atomic.Pointer[func(ProcessOutput)]
	onNotice atomic.Pointer[func(method string, params json.RawMessage)]
	// KeepsBoxes leaves a message box on the screen when its request is cancelled, as
	// real editors do.
	KeepsBoxes bool
	// Format, if set, is what the editor's formatter makes of a saved text.
	Format func(string) string
}

// OnOutput has hear called with each process/output from now on, on the loop that reads.
func (e *Editor) OnOutput(hear func(ProcessOutput)) { e.onOutput.Store(&hear) }

// OnNotice has hear called with each notification that the editor has no channel for, on the
// loop that reads.
func (e *Editor) OnNotice(hear func(method string, params json.RawMessage)) { e.onNotice.Store(&hear) }

// Buffer is a document that the fake editor has open.
type Buffer struct {
	Version int32
	Text    string
	Dirty   bool
}

// Approval is an open dialog.
type Approval struct {
	Params map[string]any
	Raw    json.RawMessage
	Answer chan any
	Ctx    context.Context
}

// Text is one of the dialog's own fields, for example "digest".
func (a *Approval) Text(key string) string {
	s, _ := a.Params[key].(string)
	return s
}

// File is a field of the preview's first file.
func (a *Approval) File(key string) any {
	preview, _ := a.Params["preview"].(map[string]any)
	files, _ := preview["files"].([]any)
	if len(files) == 0 {
		return nil
	}
	file, _ := files[0].(map[string]any)
	return file[key]
}

// Prompt is an open question.
type Prompt struct {
	Message string
	Actions []string
	Answer  chan string
}

// Untrusted is settings/untrusted.
type Untrusted struct {
	Path, Hash      string
	Rules, Problems []string
}

// Journal is journal/changed.
type Journal struct {
	Entry struct {
		ID, CallID, SessionID, Tool, State string
		Turn                               int
		Paths                              []string
	}
	Files []struct {
		Path, URI, Operation, To string
		Lines                    []struct{ Start, End int }
	}
}

// Plan is an open plan/review.
type Plan struct {
	Raw    json.RawMessage // the params
	Answer chan any
}

// Review is an open patch/review.
type Review struct {
	Raw    json.RawMessage // the params
	Answer chan any
	Ctx    context.Context
}

// ProcessOutput is process/output.
type ProcessOutput struct {
	SessionID, ProcessID, Text string
	Start, Next                int64
	Running                    bool
	ExitCode                   *int
}

// Options say what the fake editor can do.
type Options struct {
	Whole    bool     // it has a plugin, but no view for patches
	Plain    bool     // no capabilities.experimental.pillion
	Kinds    []string // approvalKinds
	Bars     bool     // capabilities.window.workDoneProgress
	Commands bool     // capabilities.workspace.executeCommand
	// Settings are initializationOptions. Without any of commands, each of those asks, also one that only reads.
	Settings map[string]any
	Silent   bool // do not initialize
	// Languages answers editor/definition and its like; method is the part after the
	// slash. With it the editor says that it has language features.
	Languages func(ctx context.Context, method string, params json.RawMessage) (any, error)
	Dirs      []string // workspace folders; default is one new one
	Home      string   // the person's home; default is a new one
	UID       int      // run the sidecar as this user; 0 is the own one
}

// Spawn starts the sidecar: command is the test binary that acts as pillion.
func Spawn(t testing.TB, command []string, o Options) *Editor {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	all := ""
	if o.UID != 0 {
		all = OpenToAll(t)
		dir, home = filepath.Join(all, "work"), filepath.Join(all, "home")
		check.Must(t, os.Mkdir(dir, 0o755), os.Mkdir(home, 0o755))
	}
	if len(o.Dirs) == 0 {
		o.Dirs = []string{dir}
	}
	if o.Home != "" {
		home = o.Home
	}
	e := &Editor{
		Dir: o.Dirs[0], Home: home, t: t, buffers: map[string]*Buffer{},
		Approvals: make(chan *Approval, 256), Prompts: make(chan *Prompt, 64), Plans: make(chan *Plan, 64), Reviews: make(chan *Review, 64), Boxes: make(chan *Box, 64),
		Changed: make(chan json.RawMessage, 256), Resolved: make(chan json.RawMessage, 256), Progress: make(chan json.RawMessage, 256),
		Created: make(chan string, 64), Messages: make(chan string, 64), Logs: make(chan string, 64), Shown: make(chan string, 64),
		Untrusted: make(chan Untrusted, 64),
		Files:     make(chan json.RawMessage, 65536), Tracking: make(chan json.RawMessage, 64), Index: make(chan json.RawMessage, 64), Unusual: make(chan json.RawMessage, 64),
		Journal: make(chan Journal, 64),
	}
	e.plain, e.answers = o.Plain, o.Languages
	e.Command = exec.Command(command[0], command[1:]...)
	e.Command.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "PILLION_TEST_MAIN=1")
	e.Command.Dir = dir
	e.Command.Stderr = &logWriter{t: t}
	if o.UID != 0 {
		e.Command.Env = append(e.Command.Env, "TMPDIR="+all)
		check.Must(t, machine.RunAs(e.Command, o.UID, all, dir, home))
	}
	stdin, err := e.Command.StdinPipe()
	check.Must(t, err)
	stdout, err := e.Command.StdoutPipe()
	check.Must(t, err)
	check.Must(t, e.Command.Start())
	e.stdin = stdin
	if o.Silent {
		e.Conn = wire.NewConn(wire.Stdio(stdout, stdin), wire.Options{Handler: e.handle})
	} else {
		e.Conn = wire.NewConn(wire.Stdio(stdout, stdin), wire.Options{Handler: e.handle})
		e.Initialize(o)
	}
	t.Cleanup(e.Stop)
	return e
}

// OpenToAll is a folder that other users reach as well, wherever that for temporary files is.
func OpenToAll(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pillion-test-")
	check.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check.Must(t, os.Chmod(dir, 0o755))
	return dir
}

// Stop ends the sidecar as an editor that quits does.
func (e *Editor) Stop() {
	e.Conn.Close() //nolint:errcheck // it may be gone
	done := make(chan error, 1)
	go func() { done <- e.Command.Wait() }() // a second Wait, after the test's own, only fails
	select {
	case <-done:
	case <-time.After(Patience):
		e.Command.Process.Kill() //nolint:errcheck // it may be gone
		e.t.Errorf("the sidecar did not end when its editor closed the pipes")
	}
}

// Initialize says hello.
func (e *Editor) Initialize(o Options) json.RawMessage {
	e.t.Helper()
	workspace := map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}
	if o.Commands {
		workspace["executeCommand"] = map[string]any{}
	}
	capabilities := map[string]any{"workspace": workspace}
	if o.Bars {
		capabilities["window"] = map[string]any{"workDoneProgress": true}
	}
	if !o.Plain {
		capabilities["experimental"] = map[string]any{"pillion": map[string]any{
			"approval": true, "approvalKinds": o.Kinds, "prompt": true, "review": !o.Whole, "plan": true, "documents": true, "languageFeatures": o.Languages != nil,
		}}
	}
	settings := map[string]any{"commands": map[string]any{"readOnly": false}}
	maps.Copy(settings, o.Settings)
	var folders []any
	for _, dir := range o.Dirs {
		folders = append(folders, map[string]any{"uri": URI(dir), "name": filepath.Base(dir)})
	}
	var result json.RawMessage
	e.Must("initialize", map[string]any{
		"processId": os.Getpid(), "clientInfo": map[string]any{"name": "fake editor", "version": "1"},
		"rootUri": URI(e.Dir), "workspaceFolders": folders, "capabilities": capabilities, "initializationOptions": settings,
	}, &result)
	e.Notify("initialized", map[string]any{})
	return result
}

// URI is the file URI of an absolute path.
func URI(file string) string { return (&url.URL{Scheme: "file", Path: file}).String() }

// Must makes a request that has to succeed.
func (e *Editor) Must(method string, params, result any) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := e.Conn.Call(ctx, method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// Code makes a request that has to fail, and gives its JSON-RPC error code.
func (e *Editor) Code(method string, params any) int64 {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := e.Conn.Call(ctx, method, params, nil)
	var broken *wire.Error
	if !errors.As(err, &broken) {
		e.t.Fatalf("%s: got %v, want a JSON-RPC error", method, err)
	}
	return broken.Code
}

// Refuses makes a request that has to fail, with this error code.
func (e *Editor) Refuses(method string, params any, want int64) {
	e.t.Helper()
	check.Same(e.t, fmt.Sprint("the code of ", method, " ", params), e.Code(method, params), want)
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) {
	e.t.Helper()
	check.Must(e.t, e.Conn.Notify(method, params))
}

// Result is a tool result.
type Result struct {
	Content           []map[string]any `json:"content"`
	StructuredContent map[string]any   `json:"structuredContent"`
	IsError           bool             `json:"isError"`
	Display           map[string]any   `json:"display"`
}

// Code is the error code of a failed result, "" of another.
func (r Result) Code() string { return r.Error("code") }

// Error is a text field of a failed result's error.
func (r Result) Error(key string) string {
	fault, _ := r.StructuredContent["error"].(map[string]any)
	s, _ := fault[key].(string)
	return s
}

// Want fails the test unless the call ended with this code, "" for success, and says these things:
// in the message of an error, else in its text.
func (r Result) Want(t testing.TB, code string, says ...string) {
	t.Helper()
	if r.Code() != code || r.IsError != (code != "") {
		t.Errorf("the result has code %q, want %q: %+v", r.Code(), code, r)
	}
	text := r.Text()
	if code != "" {
		text = r.Error("message")
	}
	check.Has(t, "the result", text, says...)
}

// Text is all text that the model reads.
func (r Result) Text() string {
	var out strings.Builder
	for _, part := range r.Content {
		s, _ := part["text"].(string)
		out.WriteString(s + "\n")
	}
	return out.String()
}

// Call calls a tool and waits for its result.
func (e *Editor) Call(tool string, arguments any) Result {
	e.t.Helper()
	var r Result
	e.Must("tools/call", map[string]any{"name": tool, "arguments": arguments}, &r)
	return r
}

// Ask calls a tool that has to ask the user, and gives the open dialog and the channel on which
// the result will come.
func (e *Editor) Ask(tool string, arguments any) (*Approval, <-chan Result) {
	e.t.Helper()
	done := e.Start(tool, arguments)
	return Wait(e.t, e.Approvals, "the dialog"), done
}

// Start calls a tool and gives the channel on which its result will come.
func (e *Editor) Start(tool string, arguments any) <-chan Result {
	out := make(chan Result, 1)
	go func() {
		var r Result
		ctx, cancel := context.WithTimeout(context.Background(), 2*Patience)
		defer cancel()
		if err := e.Conn.Call(ctx, "tools/call", map[string]any{"name": tool, "arguments": arguments}, &r); err != nil {
			e.t.Errorf("tools/call %s: %v", tool, err)
		}
		out <- r
	}()
	return out
}

// Wait takes the next value of a channel, which has to come.
func Wait[V any](t testing.TB, ch <-chan V, what string) V {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// Write makes a file in the workspace.
func (e *Editor) Write(name, text string) string {
	e.t.Helper()
	file := filepath.Join(e.Dir, name)
	check.Must(e.t, os.MkdirAll(filepath.Dir(file), 0o755))
	check.Must(e.t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// Read is a file of the workspace, "" if it is not there.
func (e *Editor) Read(name string) string {
	data, _ := os.ReadFile(filepath.Join(e.Dir, name))
	return string(data)
}

// Open opens a file of the workspace as its text stands on disk.
func (e *Editor) Open(name string) {
	e.t.Helper()
	uri := URI(filepath.Join(e.Dir, name))
	b := &Buffer{Version: 1, Text: e.Read(name)}
	e.mu.Lock()
	e.buffers[uri] = b
	e.mu.Unlock()
	e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "plaintext", "version": 1, "text": b.Text,
	}})
	e.state(uri, b)
}

// Buffer is the text of an open file as the editor has it.
func (e *Editor) Buffer(name string) Buffer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return *e.buffers[URI(filepath.Join(e.Dir, name))]
}

// Type replaces a range of an open file, as typing does.
func (e *Editor) Type(name string, r document.Range, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	uri := URI(filepath.Join(e.Dir, name))
	b := e.buffers[uri]
	e.change(uri, b, []document.TextEdit{{Range: r, NewText: text}}, true)
}

// Save writes an open file, as the user does.
func (e *Editor) Save(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	uri := URI(filepath.Join(e.Dir, name))
	e.save(uri, e.buffers[uri])
}

// change applies edits that do not depend on one another, last first.
func (e *Editor) change(uri string, b *Buffer, edits []document.TextEdit, dirty bool) {
	var events []any
	for i := len(edits) - 1; i >= 0; i-- {
		b.Text = document.Apply(b.Text, edits[i].Range, edits[i].NewText)
		events = append(events, map[string]any{"range": edits[i].Range, "text": edits[i].NewText})
	}
	b.Version++
	e.Notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": b.Version}, "contentChanges": events,
	})
	if b.Dirty != dirty {
		b.Dirty = dirty
		e.state(uri, b)
	}
}

func (e *Editor) state(uri string, b *Buffer) {
	e.Notify("document/state", map[string]any{
		"uri": uri, "version": b.Version, "dirty": b.Dirty, "encoding": "utf8", "eol": "\n", "bom": false, "readonly": false,
	})
}

// logWriter shows the sidecar's log among the test's, while the test runs.
type logWriter struct {
	t  testing.TB
	mu sync.Mutex
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("sidecar: %s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}
