package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/internal/testrig/check"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// home gives the test a home, and so a registry, of its own.
func home(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "home") // t.TempDir is too long for a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("HOME", dir)
	t.Setenv("TMPDIR", dir)
}

var must = check.Must

// project is one in a home of its own.
func project(t testing.TB, files map[string]string) *agenttest.Project {
	t.Helper()
	home(t)
	return agenttest.NewProject(t, files)
}

// edited is a project that an editor has open, and an agent there.
func edited(t testing.TB, files map[string]string) (*agenttest.Project, *agent) {
	t.Helper()
	p := project(t, files)
	editor(t, p)
	return p, connect(t, "tester", Options{Cwd: p.Dir}, nil)
}

// editor opens the project in an editor's sidecar.
func editor(t testing.TB, p *agenttest.Project) *relay.Server {
	t.Helper()
	return host(t, p, p.Dir, relay.Host{Editor: "VS Code"})
}

// host opens a folder of the project in a sidecar that agents find.
func host(t testing.TB, p *agenttest.Project, root string, h relay.Host) *relay.Server {
	t.Helper()
	h.Registry, h.Sessions, h.Roots = p.Registry, p.Sessions, func() []string { return []string{root} }
	h.Version, h.Logf, h.Beat = "1.2.3", t.Logf, 10*time.Millisecond
	s, err := relay.Listen(h)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve runs a server on the folder; the result is its end of the pipes.
func serve(t testing.TB, o Options) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	fromAgent, toServer := io.Pipe()
	fromServer, toAgent := io.Pipe()
	o.In, o.Out, o.Version = fromAgent, toAgent, "1.2.3"
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	if o.beat == 0 {
		o.beat = 10 * time.Millisecond
	}
	if o.drainTime == 0 {
		o.drainTime = agenttest.Patience
	}
	o.lookAgain, o.comeBack = time.Millisecond, cmp.Or(o.comeBack, time.Nanosecond)
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), o) }()
	t.Cleanup(func() {
		toServer.Close()
		fromServer.Close()
		agenttest.Wait(t, ended, "the end of the server")
	})
	return toServer, fromServer
}

// agent is a real MCP client.
type agent struct {
	*sdk.ClientSession
	progress chan *sdk.ProgressNotificationParams
}

// today is the newest revision with a handshake, which the agents that are tested speak
// unless it is about another.
const today = "2025-11-25"

// connect starts a server and a client of that name. elicit nil: the client has
// no forms.
func connect(t testing.TB, name string, o Options, elicit func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)) *agent {
	t.Helper()
	in, out := serve(t, o)
	a := &agent{progress: make(chan *sdk.ProgressNotificationParams, 1000)}
	options := &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { a.progress <- r.Params },
	}
	if elicit != nil {
		options.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return elicit(ctx, r.Params)
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: name, Version: "0.1"}, options)
	ctx, cancel := context.WithTimeout(t.Context(), agenttest.Patience)
	defer cancel()
	session, err := client.Connect(ctx, &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: today})
	must(t, err)
	a.ClientSession = session
	t.Cleanup(func() { session.Close() })
	return a
}

// untilItWaits returns once the call with this progress token is known to wait for the user.
func (a *agent) untilItWaits(t testing.TB, token string) {
	t.Helper()
	for n := agenttest.Wait(t, a.progress, "progress"); n.ProgressToken != token || !strings.Contains(n.Message, "waiting"); {
		n = agenttest.Wait(t, a.progress, "progress")
	}
}

// result is what a call gave.
type result struct {
	text       string // of the first part
	rest       []string
	image      *sdk.ImageContent
	structured object // nil: text alone
	isError    bool
	err        error
}

func (r result) code() string {
	if !r.isError {
		return ""
	}
	code, _, _ := strings.Cut(r.text, ":")
	return code
}

// want fails the test unless the call ended with this code, "" for success, and says these things.
func (r result) want(t testing.TB, code string, says ...string) {
	t.Helper()
	if r.code() != code || r.isError != (code != "") || r.err != nil {
		t.Errorf("the result has code %q, want %q: %+v", r.code(), code, r)
	}
	check.Has(t, "the result", r.text, says...)
}

func (a *agent) call(t testing.TB, name string, arguments any) result {
	t.Helper()
	return agenttest.Wait(t, a.start(t.Context(), t, &sdk.CallToolParams{Name: name, Arguments: arguments}), "the result")
}

// aside tells a text from what is said about it, which stands behind it in brackets.
func aside(text string) (of string, rest []string) {
	at := strings.LastIndex("\n"+text, "\n(")
	if at < 0 || !strings.HasSuffix(text, ")") || strings.Contains(text[at:], "\n") {
		return text, nil
	}
	of, rest = text[:at], []string{text[at:]}
	if strings.Contains(rest[0], "no line end after the last") || strings.Contains(rest[0], " is cut after ") {
		of = strings.TrimSuffix(of, "\n")
	}
	return of, rest
}

func (a *agent) start(ctx context.Context, t testing.TB, p *sdk.CallToolParams) <-chan result {
	out := make(chan result, 1)
	go func() {
		got, err := a.CallTool(ctx, p)
		var refused *jsonrpc.Error
		if errors.As(err, &refused) && string(refused.Data) == `{"code":"TOOL_NOT_FOUND"}` && refused.Code == jsonrpc.CodeInvalidParams {
			out <- result{isError: true, text: "TOOL_NOT_FOUND: " + refused.Message}
			return
		}
		if err != nil {
			out <- result{err: err}
			return
		}
		r := result{isError: got.IsError}
		if structure, ok := got.StructuredContent.(map[string]any); ok {
			r.structured = structure
		}
		for i, part := range got.Content {
			switch part := part.(type) {
			case *sdk.ImageContent:
				r.image = part
			case *sdk.TextContent:
				if i == 0 {
					r.text, r.rest = aside(part.Text)
				} else {
					r.rest = append(r.rest, part.Text)
				}
			}
		}
		out <- r
	}()
	return out
}

// doorOf gives servers the tools of a project without a socket between, which a synctest
// bubble can wait for.
func doorOf(p *agenttest.Project) func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error) {
	return func(_ []string, who session.Agent, _ approval.Asker, _ tools.Human) (*Door, error) {
		return &Door{Registry: p.Registry, Session: session.New(session.NewID(), who, policy.Default), Close: func() error { return nil }}, nil
	}
}

// alone gives servers a door without an editor, and counts them.
type alone struct {
	dir    string
	mode   policy.Mode // empty: the default
	t      testing.TB
	mu     sync.Mutex // guards what follows
	opened []session.Agent
	closed int
}

func (a *alone) open(_ []string, who session.Agent, asker approval.Asker, human tools.Human) (*Door, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened = append(a.opened, who)
	return &Door{
		Registry: agenttest.NewRegistry(a.t, a.dir, asker, human),
		Session:  session.New(session.NewID(), who, cmp.Or(a.mode, policy.Default)),
		Close: func() error {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.closed++
			return nil
		},
	}, nil
}

// aloneIn gives servers a door to the project without an editor.
func aloneIn(t testing.TB, p *agenttest.Project) func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error) {
	return (&alone{dir: p.Dir, t: t}).open
}

func (a *alone) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.opened)
}

func (a *alone) closings() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

func exists(p *agenttest.Project, name string) bool {
	_, err := os.Stat(filepath.Join(p.Dir, name))
	return err == nil
}

type object map[string]any
