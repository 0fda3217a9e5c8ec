// Package acp runs sub-agents that speak the Agent Client Protocol over stdio. Pillion is
// their client: it opens files, writes them and runs commands for them.
//
// Host.Run is the entry point: it opens a session that is a child of the caller's, starts
// the program, gives it the objective, and returns when nothing of it is left. Whatever
// the sub-agent asks for becomes a call of a canonical tool through the one door
// (client.go, terminal.go), also what it asks to do by itself (permission.go).
//
// The program is hostile: what it sends is bounded in size (a line has at most 10 MB) and
// number, it can name no session but its own, and after its end nothing that it asked for
// is done any more.
//
// Deliberately not here: which programs there are (the settings), how they are held (package
// tools), and what may be done without asking (policy).
package acp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
	"pillion/tools/session"
)

// Host is what sub-agents are run with.
type Host struct {
	Registry *tools.Registry
	Sessions *session.Set
	Start    func(context.Context, process.Spec, func(process.Stream, []byte)) (*process.Process, error)
	// Relative is an absolute path as tools print it, if it is in the workspace.
	Relative func(path string) string
}

const (
	startTime  = 2 * time.Minute // until it is ready for its objective
	leaveTime  = 2 * time.Second // after it was told to stop
	mostAtOnce = 64              // requests of it that wait for an answer
	errorKept  = 64 << 10        // of what it prints as errors
)

// Why a sub-agent is stopped.
var (
	errTimeout = errors.New("its time is over")
	errFlood   = fault.New(fault.ExecutionFailed, "the sub-agent asked for more than %d things at once, and was ended", mostAtOnce)
	errOver    = errors.New("the task is over")
)

// agent is one sub-agent at work.
type agent struct {
	host    *Host
	task    tools.SubAgent
	session *session.Session
	ctx     context.Context // of its work
	stop    context.CancelCauseFunc
	clock   *clock
	said    *said
	conn    *sdk.Connection
	id      atomic.Value  // sdk.SessionId: what it calls its session
	slots   chan struct{} // filled by the requests that are under way
	terms   terminals
	wrote   written
	// missingIsEmpty: it takes the error for a file that is not there for a failure, and
	// so could create none (Gemini CLI 0.61): it gets an empty text. Set before id.
	missingIsEmpty bool
}

// Run gives a sub-agent its objective: see tools.Agents.
func (h *Host) Run(ctx context.Context, s tools.SubAgent) (string, error) {
	who := session.Agent{Name: s.Name + ", for " + s.Parent.Agent().Name, Via: "task"}
	child, err := h.Sessions.OpenChild(s.Parent, who, s.Mode)
	if err != nil {
		return "", err
	}
	defer h.Sessions.Close(child.ID())
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(errOver)
	a := &agent{host: h, task: s, session: child, ctx: ctx, stop: stop, said: newSaid(s.Output), slots: make(chan struct{}, mostAtOnce)}
	a.clock = newClock(s.Timeout, func() { stop(errTimeout) })
	defer a.clock.stop()
	telling := make(chan struct{})
	go func() {
		defer close(telling)
		a.said.follow(ctx)
	}()
	go a.watch()
	err = a.live()
	if reason, paused := child.Paused(); paused && err == nil { // its turn may be over before watch stops it
		err = stoppedBy(reason)
	}
	err = a.reason(err)
	stop(errOver)
	for range mostAtOnce { // whatever it asked for is done or given up
		a.slots <- struct{}{}
	}
	<-telling
	return a.said.last(), err
}

// watch stops the work with the sessions that it belongs to.
func (a *agent) watch() {
	paused := func(s *session.Session) {
		reason, _ := s.Paused()
		a.stop(stoppedBy(reason))
	}
	select {
	case <-a.session.Closed():
		a.stop(fault.New(fault.Cancelled, "the sub-agent was stopped: its session was closed"))
	case <-a.session.Pausing():
		paused(a.session)
	case <-a.task.Parent.Pausing():
		paused(a.task.Parent)
	case <-a.ctx.Done():
	}
}

// stoppedBy is the error of a task whose session is paused.
func stoppedBy(reason string) error {
	return fault.New(fault.Cancelled, "the sub-agent was stopped: %s", cmp.Or(reason, "its session is paused"))
}

// live starts the program, has it work, and ends it with all that it started.
func (a *agent) live() error {
	fromAgent, toUs := io.Pipe()
	in := &stdin{ctx: a.ctx, ready: make(chan struct{})}
	a.conn = sdk.NewConnection(a.handle, in, fromAgent)
	a.conn.SetLogger(slog.New(slog.DiscardHandler)) // before anything can be read; it would log the agent's messages
	spec := a.task.Process
	spec.KeepStdin, spec.OutputLimit = true, errorKept
	p, err := a.host.Start(a.ctx, spec, func(s process.Stream, text []byte) {
		if s == process.Stdout {
			_, _ = toUs.Write(text) // it fails once nobody reads any more
		}
	})
	if err != nil {
		_ = toUs.Close()
		<-a.conn.Done()
		return err
	}
	in.process = p
	close(in.ready)
	go func() {
		<-p.Done()
		_ = toUs.Close()
	}()
	err = a.work()
	p.Kill()
	_ = fromAgent.Close()
	_ = toUs.Close()
	got, _ := p.Wait(context.Background())
	<-a.conn.Done()
	if disconnected(err) {
		return fault.New(fault.ExecutionFailed, "the sub-agent %s ended, or broke the protocol, before it was done", fault.Quote(a.task.Name)).
			With("stderr", tail(got.Stderr, 2<<10)).WithHint("ask the user to try the program of task.runners by hand")
	}
	return err
}

// stdin writes to the program as soon as it is there.
type stdin struct {
	ctx     context.Context
	ready   chan struct{}
	process *process.Process // from ready on
}

func (s *stdin) Write(text []byte) (int, error) {
	select {
	case <-s.ready:
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), writeTime) // it is told to stop, too
	defer cancel()
	return s.process.Write(within, string(text))
}

// writeTime is how long the agent may leave a message unread.
const writeTime = time.Minute

// work is the conversation: hello, a session, the objective, until the agent says that it
// is done.
func (a *agent) work() error {
	id, err := a.open()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		got, err := sdk.SendRequest[sdk.PromptResponse](a.conn, context.WithoutCancel(a.ctx), sdk.AgentMethodSessionPrompt, sdk.PromptRequest{
			SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(a.task.Objective)},
		})
		done <- cmp.Or(err, stopped(got.StopReason))
	}()
	select {
	case err := <-done:
		return err
	case <-a.ctx.Done():
	}
	go func() { // it may not read; its end lets go of us
		_ = a.conn.SendNotification(context.WithoutCancel(a.ctx), sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: id})
	}()
	select {
	case <-done:
	case <-time.After(leaveTime):
	}
	return context.Cause(a.ctx)
}

// open says hello and opens the agent's session.
func (a *agent) open() (sdk.SessionId, error) {
	ctx, cancel := context.WithTimeoutCause(a.ctx, startTime, fault.New(fault.Timeout, "the sub-agent %s did not start within %s", fault.Quote(a.task.Name), startTime))
	defer cancel()
	hello, err := sdk.SendRequest[sdk.InitializeResponse](a.conn, ctx, sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "pillion", Version: "1"},
		ClientCapabilities: sdk.ClientCapabilities{
			Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}, Terminal: true,
		},
	})
	switch {
	case err != nil:
		return "", inContext(ctx, err)
	case hello.ProtocolVersion != sdk.ProtocolVersionNumber:
		return "", fault.New(fault.ExecutionFailed, "the sub-agent %s speaks version %d of the protocol, and Pillion version %d", fault.Quote(a.task.Name), hello.ProtocolVersion, sdk.ProtocolVersionNumber)
	}
	a.missingIsEmpty = hello.AgentInfo != nil && hello.AgentInfo.Name == "gemini-cli"
	opened, err := sdk.SendRequest[sdk.NewSessionResponse](a.conn, ctx, sdk.AgentMethodSessionNew, sdk.NewSessionRequest{
		Cwd: a.task.Process.Dir, McpServers: []sdk.McpServer{},
	})
	if err != nil {
		return "", inContext(ctx, err)
	}
	a.id.Store(opened.SessionId)
	return opened.SessionId, inContext(ctx, a.askFirst(ctx, opened))
}

// askFirst has an agent that would begin in a mode in which it does not ask ask first, if
// it has such a mode.
func (a *agent) askFirst(ctx context.Context, opened sdk.NewSessionResponse) error {
	const asking = "default"
	if opened.Modes == nil || opened.Modes.CurrentModeId == asking {
		return nil
	}
	for _, mode := range opened.Modes.AvailableModes {
		if mode.Id == asking {
			_, err := sdk.SendRequest[sdk.SetSessionModeResponse](a.conn, ctx, sdk.AgentMethodSessionSetMode,
				sdk.SetSessionModeRequest{SessionId: opened.SessionId, ModeId: asking})
			return err
		}
	}
	return nil
}

// inContext is why the context ended, if that is why the request failed.
func inContext(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// stopped says of a turn that ended early why.
func stopped(reason sdk.StopReason) error {
	if reason == sdk.StopReasonEndTurn {
		return nil
	}
	return fault.New(fault.ExecutionFailed, "the sub-agent stopped early: %s", fault.Quote(fault.Clip(string(reason), 100))).
		WithHint("give it less to do, or do the work yourself")
}

func disconnected(err error) bool {
	var failed *sdk.RequestError
	if !errors.As(err, &failed) || failed.Code != -32603 {
		return false
	}
	about, _ := failed.Data.(map[string]any)
	return about["error"] == "peer disconnected before response"
}

// reason is an error as whoever gave the task reads it.
func (a *agent) reason(err error) error {
	var failed *sdk.RequestError
	switch {
	case err == nil:
		return nil
	case a.ctx.Err() != nil && context.Cause(a.ctx) == errTimeout:
		return fault.New(fault.Timeout, "the sub-agent %s and all it started were ended after %s of its own work", fault.Quote(a.task.Name), a.task.Timeout).
			WithHint("give it less to do")
	case a.ctx.Err() != nil:
		var why *fault.Error
		if errors.As(context.Cause(a.ctx), &why) {
			return why
		}
		return a.ctx.Err()
	case !errors.As(err, &failed):
		return err
	case failed.Code == authRequired:
		return fault.New(fault.ExecutionFailed, "the sub-agent %s wants the user to log in", fault.Quote(a.task.Name)).
			WithHint("ask the user to start it in a terminal and log in, or to give it a key with env or inheritEnv in task.runners")
	}
	return fault.New(fault.ExecutionFailed, "the sub-agent %s failed: %s", fault.Quote(a.task.Name), fault.Line(fault.Clip(failed.Error(), 1000)))
}

// The codes of ACP's own errors.
const (
	authRequired     = -32000
	resourceNotFound = -32002
)

// clock measures how long a sub-agent works. It stands still while a call of it may wait
// for the user.
type clock struct {
	mu    sync.Mutex // guards all below
	left  time.Duration
	since time.Time // when it last began to run
	held  int
	timer *time.Timer
}

func newClock(limit time.Duration, over func()) *clock {
	return &clock{left: limit, since: time.Now(), timer: time.AfterFunc(limit, over)}
}

// pause stops the clock until release.
func (c *clock) pause() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.since = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++ // nothing starts it again
	c.timer.Stop()
}
