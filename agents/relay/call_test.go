package relay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/tools/approval"
)

func TestListAndCall(t *testing.T) {
	p, s := opened(t, map[string]string{"a.txt": "hello\n"})
	c := dial(t, s.entry)
	check.Same(t, "the editor", c.Editor(), "VS Code")
	list, err := c.Tools(t.Context())
	if err != nil || len(list) != len(p.Registry.Definitions()) || list[0].Name == "" || len(list[0].InputSchema) == 0 {
		t.Fatalf("listed %d tools, %v", len(list), err)
	}
	got, err := c.Call(t.Context(), Call{Name: "read_file", Arguments: args(t, map[string]any{"path": "a.txt"})}, nil)
	must(t, err)
	if r := read(t, got.Bytes()); r.IsError || r.Structured.Content != "hello\n" || r.Content[0].Text != "hello\n" {
		t.Errorf("read %s", got.Bytes())
	}
	got, err = c.Call(t.Context(), Call{Name: "read_fil"}, nil)
	must(t, err)
	if r := read(t, got.Bytes()); !r.IsError || r.Structured.Error.Code != "TOOL_NOT_FOUND" || !strings.HasPrefix(r.Structured.Error.Message, "unknown tool") {
		t.Errorf("an unknown tool gave %s", got.Bytes())
	}
}

func TestAConnectionIsASession(t *testing.T) {
	p, s := opened(t, nil)
	a, b := dial(t, s.entry), dial(t, s.entry)
	open := p.Sessions.List()
	if len(open) != 2 || open[0].SessionID == open[1].SessionID {
		t.Fatalf("open sessions: %+v", open)
	}
	if who := open[0].Agent; who.Name != "tester" || who.Version != "0.1" || who.Via != "mcp" {
		t.Errorf("the agent is %+v", who)
	}
	a.Close()
	b.Close()
	waitUntil(t, "the sessions are closed", func() bool { return len(p.Sessions.List()) == 0 })
}

// An agent that does not ask for brief results gets whole ones.
func TestWholeResults(t *testing.T) {
	p, s := opened(t, nil)
	c := greeted(t, s)
	text := make(chan json.RawMessage, 1)
	go func() {
		var got json.RawMessage
		if err := c.Call(context.Background(), methodCall, write(t, "n.txt"), &got); err != nil {
			t.Error(err)
		}
		text <- got
	}()
	p.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := read(t, agenttest.Wait(t, text, "the result")); r.IsError || len(r.Content) == 0 || len(r.Display) == 0 {
		t.Errorf("got %+v", r)
	}
}

func TestCancelWithdrawsTheDialog(t *testing.T) {
	p, s := opened(t, nil)
	c := dial(t, s.entry)
	ctx, cancel := context.WithCancel(t.Context())
	pending := call(t, c, ctx, write(t, "n.txt"), nil)
	d := p.Human.Next(t)
	cancel()
	if r := agenttest.Wait(t, pending, "the end of the call"); !errors.Is(r.err, context.Canceled) {
		t.Errorf("the cancelled call ended with %v", r.err)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	d.Answer(approval.Answer{Decision: approval.Approve})
	if names := files(t, p.Dir); len(names) != 0 {
		t.Errorf("a late yes made %v", names)
	}
	if _, err := c.Tools(t.Context()); err != nil {
		t.Errorf("the connection is of no use any more: %v", err)
	}
}

func TestCancelledOnTheWire(t *testing.T) {
	p, s := opened(t, nil)
	c := greeted(t, s)
	ended := make(chan error, 1)
	go func() { ended <- c.Call(context.Background(), methodCall, write(t, "n.txt"), nil) }()
	p.Human.Next(t)
	must(t, c.Notify("$/cancelRequest", map[string]int{"id": 2}))
	wantCode(t, agenttest.Wait(t, ended, "the answer"), wire.CodeRequestCancelled)
}

func TestTheAgentGoesAway(t *testing.T) {
	p, s := opened(t, nil)
	c := dial(t, s.entry)
	pending := call(t, c, t.Context(), write(t, "n.txt"), nil)
	d := p.Human.Next(t)
	c.Close()
	if r := agenttest.Wait(t, pending, "the end of the call"); !errors.Is(r.err, wire.ErrClosed) {
		t.Errorf("the call ended with %v", r.err)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	waitUntil(t, "the session is closed", func() bool { return len(p.Sessions.List()) == 0 })
}

func TestTheSidecarGoesAway(t *testing.T) {
	p, s := opened(t, nil)
	c := dial(t, s.entry)
	pending := call(t, c, t.Context(), write(t, "n.txt"), nil)
	d := p.Human.Next(t)
	must(t, s.Close())
	r := agenttest.Wait(t, pending, "the end of the call")
	var told *wire.Error
	if !errors.Is(r.err, wire.ErrClosed) && !errors.As(r.err, &told) {
		t.Errorf("the call ended with %s, %v", r.text, r.err)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	agenttest.Wait(t, c.Done(), "the end of the connection")
}

func write(t testing.TB, name string) Call {
	return Call{Name: "write_file", Arguments: args(t, map[string]any{"path": name, "content": "new\n"})}
}

type ending struct {
	text json.RawMessage
	err  error
}

func call(t testing.TB, c *Client, ctx context.Context, what Call, progress func(Progress)) <-chan ending {
	t.Helper()
	out := make(chan ending, 1)
	go func() {
		text, err := c.Call(ctx, what, progress)
		out <- ending{text.Bytes(), err}
	}()
	return out
}

// A process is its session's: it ends with the connection, and no other connection
// reaches it.
func TestProcessesEndWithTheConnection(t *testing.T) {
	p, s := opened(t, nil)
	c, other := dial(t, s.entry), dial(t, s.entry)
	pending := call(t, c, t.Context(), Call{Name: "run_persistent", Arguments: args(t, map[string]any{
		"command": "echo up; sleep 1001", "process_id": "server", "ready_pattern": "up",
	})}, nil)
	p.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := read(t, agenttest.Wait(t, pending, "the result").text); r.IsError {
		t.Fatalf("got %+v", r)
	}
	started := p.Registry.Processes.List("")
	if len(started) != 1 || !started[0].Running() {
		t.Fatalf("processes: %v", started)
	}
	for _, tool := range []string{"read_process", "kill_process", "write_process"} {
		arguments := map[string]any{"process_id": "server"}
		if tool == "write_process" {
			arguments["input"] = "x"
		}
		r := read(t, agenttest.Wait(t, call(t, other, t.Context(), Call{Name: tool, Arguments: args(t, arguments)}, nil), "the answer").text)
		check.Same(t, tool+" from another connection", r.Structured.Error.Code, "PROCESS_NOT_FOUND")
	}
	if !started[0].Running() {
		t.Fatal("another connection ended it")
	}
	c.Close()
	agenttest.Wait(t, started[0].Done(), "the end of the process")
}
