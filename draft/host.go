package draft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"pillion/internal/state"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
)

// host is the sidecar of a draft, of which this one is the editor.
type host struct {
	draft  *draft
	cmd    *exec.Cmd
	conn   *wire.Conn
	cancel context.CancelFunc
	// started is when what is below the layers was looked at: what has changed since may not be seen.
	started time.Time
	// had is what was changed in the draft already: what these files were then is known, or nobody knows.
	had map[string]bool

	mu      sync.Mutex // guards what follows
	calls   map[string]*calling
	asking  map[string]*question // by the other's approvalId
	running map[string]bool      // processes that go on
	users   int                  // calls that have it

	opening  sync.Mutex // guards sessions, which it knows
	sessions map[string]known
}

// calling is a call that is under way.
type calling struct {
	tools.Call
	ask func(context.Context, approval.Plan) (approval.Answer, error)
}

// Variable has the state's folder of this sidecar, for that of a draft.
const Variable = "PILLION_DRAFT_OF"

const (
	startWithin = 30 * time.Second
	endWithin   = 3 * time.Second
)

func start(d *draft, mounts []process.Layer) (_ *host, err error) {
	own, err := state.Folder("")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &host{draft: d, cancel: cancel, started: time.Now(), calls: map[string]*calling{}, asking: map[string]*question{}, running: map[string]bool{}, sessions: map[string]known{}}
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	if h.cmd, err = process.InLayers(ctx, mounts, "serve"); err != nil {
		return nil, err
	}
	h.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(d.dir, "state"), Variable+"="+own)
	in, err := h.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.cmd.Stderr, h.cmd.WaitDelay = log.Writer(), endWithin
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	h.conn = wire.NewConn(wire.Stdio(out, in), wire.Options{Handler: h.handle, Logf: d.set.o.Logf})
	within, stop := context.WithTimeout(ctx, startWithin)
	defer stop()
	if err = h.hello(within); err != nil {
		h.close()
		return nil, fmt.Errorf("its sidecar does not start, the log says why: %w", err)
	}
	return h, nil
}

// hello introduces this sidecar as an editor.
func (h *host) hello(ctx context.Context) error {
	type folder struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	var folders []folder
	for _, dir := range h.draft.Folders {
		folders = append(folders, folder{(&url.URL{Scheme: "file", Path: dir}).String(), filepath.Base(dir)})
	}
	params := map[string]any{
		"processId": os.Getpid(), "clientInfo": map[string]string{"name": "pillion", "version": "1"}, "workspaceFolders": folders,
		"initializationOptions": h.draft.set.o.Settings(),
		"capabilities":          map[string]any{"experimental": map[string]any{"pillion": map[string]any{"approval": true, "approvalKinds": []string{"review"}, "prompt": true}}},
	}
	if err := h.conn.Call(ctx, "initialize", params, nil); err != nil {
		return err
	}
	return h.conn.Notify("initialized", struct{}{})
}

// known is what the other sidecar knows of a session.
type known struct {
	mode policy.Mode
	turn int
}

// open has the other sidecar know the session of a call.
func (h *host) open(ctx context.Context, s *session.Session) error {
	h.opening.Lock()
	defer h.opening.Unlock()
	now, was := known{s.Mode(), s.Turn()}, h.sessions[s.ID()]
	if now == was {
		return nil
	}
	params := map[string]any{"sessionId": s.ID(), "agent": map[string]string{"name": s.Agent().Name}, "mode": now.mode}
	err := h.conn.Call(ctx, "session/open", params, nil)
	if err == nil { // it may have been kept in another one
		err = h.conn.Call(ctx, "session/setMode", params, nil)
	}
	if err == nil && now.turn != was.turn {
		err = h.conn.Call(ctx, "session/newTurn", params, nil)
	}
	if err == nil {
		h.sessions[s.ID()] = now
	}
	return err
}

// leave ends what running began.
func (h *host) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
}

func (h *host) call(ctx context.Context, c tools.Call, ask func(context.Context, approval.Plan) (approval.Answer, error)) (json.RawMessage, error) {
	if err := h.open(ctx, c.Session); err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.calls[c.CallID] = &calling{c, ask}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, c.CallID)
	}()
	params := map[string]any{
		"name": c.Name, "arguments": c.Arguments, "callId": c.CallID, "sessionId": c.Session.ID(),
		"requiresApproval": c.RequiresApproval, "timeoutSeconds": c.Timeout.Seconds(), "pageBytes": c.PageBytes, "rangeBytes": c.RangeBytes,
	}
	if c.Changes() || c.Stream != nil { // of a read it would mean that the content comes in pieces
		params["workDoneToken"] = c.CallID
	}
	var result json.RawMessage
	err := h.conn.Call(ctx, "tools/call", params, &result)
	if errors.Is(err, wire.ErrClosed) {
		err = errors.New("its sidecar ended; call again, it is started anew")
	}
	return result, err
}

func (h *host) handle(ctx context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
	switch req.Method {
	case "approval/request":
		var r approval.Request
		if err := json.Unmarshal(req.Params, &r); err != nil {
			return nil, err
		}
		defer wire.Waiting(ctx)()
		return h.question(ctx, r)
	case "approval/changed":
		var c approval.Changed
		if err := json.Unmarshal(req.Params, &c); err != nil {
			return nil, err
		}
		h.mu.Lock()
		q := h.asking[c.ApprovalID]
		h.mu.Unlock()
		if q != nil {
			q.change(c)
		}
	case "approval/resolved":
		var r approval.Changed
		if err := json.Unmarshal(req.Params, &r); err != nil {
			return nil, err
		}
		h.mu.Lock()
		q := h.asking[r.ApprovalID]
		h.mu.Unlock()
		if q != nil {
			q.dismiss()
		}
	case "process/output":
		var p struct {
			ProcessID string `json:"processId"`
			Running   bool   `json:"running"`
		}
		if err := json.Unmarshal(req.Params, &p); err != nil {
			return nil, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.running[p.ProcessID] = p.Running; !p.Running {
			delete(h.running, p.ProcessID)
		}
	case "$/progress":
		return nil, h.progress(ctx, req.Params)
	}
	if req.Notification {
		return nil, nil
	}
	return nil, wire.Errorf(wire.CodeMethodNotFound, "a draft's editor does not know %q", req.Method)
}

func (h *host) progress(ctx context.Context, params json.RawMessage) error {
	var p struct {
		Token string `json:"token"`
		Value struct {
			Stream string `json:"stream"`
			Text   string `json:"text"`
			tools.Chunk
		} `json:"value"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	h.mu.Lock()
	c := h.calls[p.Token]
	h.mu.Unlock()
	switch {
	case c == nil:
	case c.Stream != nil && p.Value.Content != "":
		return c.Stream(ctx, p.Value.Chunk)
	case p.Value.Text != "":
		c.Output(p.Value.Stream, p.Value.Text)
	}
	return nil
}

// question is a request of the other sidecar that the user is shown by this one. It implements approval.Plan.
type question struct {
	dismiss context.CancelFunc
	moved   chan struct{}

	mu      sync.Mutex // guards what follows
	request approval.Request
	how     approval.Continuity
}

func (h *host) question(ctx context.Context, r approval.Request) (any, error) {
	h.mu.Lock()
	c := h.calls[r.CallID]
	h.mu.Unlock()
	if c == nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "there is no call %q", r.CallID)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := &question{dismiss: cancel, moved: make(chan struct{}, 1), request: r}
	h.mu.Lock()
	h.asking[r.ApprovalID] = q
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.asking, r.ApprovalID)
	}()
	agent := c.Session.Agent()
	q.request.Agent, q.request.SessionID = approval.Agent{Name: agent.Name, Via: agent.Via}, c.Session.ID()
	answer, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Request is the question as it stands.
func (q *question) Request() approval.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.request
}

// Moved signals that it is another one.
func (q *question) Moved() <-chan struct{} { return q.moved }

// Again says how it compares with the last one, which the other sidecar knows.
func (q *question) Again(context.Context) (approval.Continuity, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.how, nil
}

// Adopt leaves what the user gave to the other sidecar.
func (q *question) Adopt(context.Context, approval.Answer) error { return nil }

func (q *question) change(c approval.Changed) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.request.Digest, q.request.Reasons, q.request.Preview, q.how = c.Digest, c.Reasons, c.Preview, approval.Different
	if c.Moved {
		q.how = approval.Shifted
	}
	select {
	case q.moved <- struct{}{}:
	default:
	}
}

func (h *host) ended() bool {
	select {
	case <-h.conn.Done():
		return true
	default:
		return false
	}
}

// idle says that no process goes on in it, nor a call.
func (h *host) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.running)+h.users == 0
}

// close ends it, and returns when it is gone.
func (h *host) close() {
	_ = h.conn.Close() // its end of input
	gone := make(chan struct{})
	go func() {
		_ = h.cmd.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(endWithin):
		h.cancel()
		<-gone
	}
	h.cancel()
}
