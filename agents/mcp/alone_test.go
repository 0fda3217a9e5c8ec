package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

func TestAnEditorComesAndGoes(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open}, nil)
	read := func(when string) {
		t.Helper()
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || r.text != "hello\n" {
			t.Errorf("%s: got %+v", when, r)
		}
	}
	read("without an editor")
	if door.count() != 1 || door.opened[0].Name != "tester" {
		t.Fatalf("doors were opened for %+v", door.opened)
	}

	s := editor(t, p)
	read("with an editor")
	if open := p.Sessions.List(); len(open) != 1 {
		t.Fatalf("the editor that was opened later is not found: %+v", open)
	}
	pending := a.start(t.Context(), t, write("n.txt"))
	d := p.Human.Next(t)
	must(t, s.Close())
	if r := agenttest.Wait(t, pending, "the result"); r.code() != "EXECUTION_FAILED" || !strings.Contains(r.text, "the editor was closed") {
		t.Errorf("the call that ran got %+v", r)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	read("when the editor has gone")
	if door.count() != 1 {
		t.Errorf("%d doors were opened", door.count())
	}

	editor(t, p)
	read("with the next editor")
	if open := p.Sessions.List(); len(open) != 1 {
		t.Errorf("the next editor is not found: %+v", open)
	}
}

func TestAnEditorThatDoesNotAnswer(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	mute := func(string) (sidecar, bool, error) {
		return sidecar{editor: "VS Code", connect: func(context.Context, relay.Hello) (*relay.Client, error) {
			return nil, errors.New("no answer")
		}}, true, nil
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: mute}, nil)
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.code() != "EXECUTION_FAILED" || !strings.Contains(r.text, "reload") {
		t.Errorf("got %+v", r)
	}
	if door.count() != 0 {
		t.Error("the tools work behind the editor's back")
	}
	if list, err := a.ListTools(t.Context(), nil); err != nil || len(list.Tools) == 0 {
		t.Errorf("the tools are not listed: %v", err)
	}
}

// TestAnEditorThatDies takes a connection and ends it, until the system has closed its
// socket: the call does not pay for that.
func TestAnEditorThatDies(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	looks := 0
	dying := func(string) (sidecar, bool, error) {
		looks++
		return sidecar{editor: "VS Code", connect: func(context.Context, relay.Hello) (*relay.Client, error) {
			return nil, fmt.Errorf("the editor's pillion refused the connection: %w", wire.ErrClosed)
		}}, looks < 3, nil
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: dying}, nil)
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || looks != 3 || door.count() != 1 {
		t.Errorf("after %d looks, %d doors: %+v", looks, door.count(), r)
	}
	for name, c := range map[string]struct {
		err   error
		looks int
	}{
		"hangs up for ever": {wire.ErrClosed, mostLooks},
		"says no":           {errors.New("no"), 1},
	} {
		looks := 0
		refusing := func(string) (sidecar, bool, error) {
			looks++
			return sidecar{connect: func(context.Context, relay.Hello) (*relay.Client, error) { return nil, c.err }}, true, nil
		}
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: refusing}, nil)
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.code() != "EXECUTION_FAILED" || looks != c.looks {
			t.Errorf("%s: after %d looks: %+v", name, looks, r)
		}
	}
}

func TestNoDoorAtAll(t *testing.T) {
	p := project(t, nil)
	for name, open := range map[string]func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error){
		"none": nil,
		"broken": func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error) {
			return nil, errors.New("too bad")
		},
	} {
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: open}, nil)
		if r := a.call(t, "list_files", object{}); r.code() != "EXECUTION_FAILED" {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

func TestWithoutFormsTheCallIsRefused(t *testing.T) {
	p := project(t, nil)
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, nil)
	r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
	if r.code() != "APPROVAL_UNAVAILABLE" || !strings.Contains(r.text, openAnEditor) || exists(p, "n.txt") {
		t.Errorf("got %+v", r)
	}
	if r := a.call(t, "prompt_user", object{"message": "well?", "actions": []string{"yes"}}); r.code() != "APPROVAL_UNAVAILABLE" {
		t.Errorf("a question gave %+v", r)
	}
}

func TestAsking(t *testing.T) {
	accept := func(content object) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	act := func(action string) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: action}, nil
		}
	}
	for name, c := range map[string]struct {
		elicit     func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)
		code, text string
	}{
		"approve":         {accept(object{"decision": "approve"}), "", ""},
		"decline":         {act("decline"), "USER_REJECTED", "rejected"},
		"cancel":          {act("cancel"), "APPROVAL_UNAVAILABLE", "closed without an answer"},
		"accept nothing":  {act("accept"), "USER_REJECTED", "rejected"},
		"not one of them": {accept(object{"decision": "approve everything"}), "APPROVAL_UNAVAILABLE", "cannot ask"},
		"an error": {func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return nil, errors.New("broken")
		}, "APPROVAL_UNAVAILABLE", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, nil)
			a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, c.elicit)
			r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
			if r.code() != c.code || !strings.Contains(r.text, c.text) || exists(p, "n.txt") != (c.code == "") {
				t.Errorf("got %+v", r)
			}
			if r := a.call(t, "list_files", object{}); r.isError {
				t.Errorf("the next call gave %+v", r)
			}
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "one\n"})
	asked := make(chan *sdk.ElicitParams, 10)
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, func(_ context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		asked <- q
		decision := q.RequestedSchema.(map[string]any)["properties"].(map[string]any)["decision"].(map[string]any)
		ids := decision["enum"].([]any)
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": ids[len(ids)-1]}}, nil
	})
	edit := func(from, to string) result {
		return a.call(t, "edit_file", object{"path": "a.txt", "old_string": from, "new_string": to})
	}
	if r := edit("one", "t\u202ewo"); r.isError {
		t.Fatalf("got %+v", r)
	}
	q := agenttest.Wait(t, asked, "the question")
	for _, want := range []string{"a.txt", "-one", `+t\u202ewo`} {
		if !strings.Contains(q.Message, want) {
			t.Errorf("the question lacks %q:\n%s", want, q.Message)
		}
	}
	decision := q.RequestedSchema.(map[string]any)["properties"].(map[string]any)["decision"].(map[string]any)
	ids, titles := fmt.Sprint(decision["enum"]), fmt.Sprint(decision["enumNames"])
	if !strings.HasPrefix(ids, "[reject approve") || !strings.Contains(titles, "edit_file") {
		t.Errorf("offered are %s, shown as %s", ids, titles)
	}
	// The last choice was for the session: nobody is asked again.
	if r := edit("t\u202ewo", "three"); r.isError || len(asked) != 0 {
		t.Errorf("got %+v, asked %d more times", r, len(asked))
	}
}

func TestPrompt(t *testing.T) {
	p := project(t, nil)
	answers := make(chan *sdk.ElicitResult, 2)
	answers <- &sdk.ElicitResult{Action: "accept", Content: object{"action": "no"}}
	answers <- &sdk.ElicitResult{Action: "decline"}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, func(_ context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return <-answers, nil
	})
	for _, want := range []string{"no", "cancel"} {
		r := a.call(t, "prompt_user", object{"message": "well?", "actions": []string{"yes", "no"}})
		if r.isError || !strings.HasSuffix(r.text, want) {
			t.Errorf("want %q, got %+v", want, r)
		}
	}
}

// One question at a time; a cancelled call takes its question along.
func TestOneQuestionAtATime(t *testing.T) {
	p := project(t, nil)
	asked, withdrawn := make(chan string, 10), make(chan struct{}, 10)
	var count atomic.Int32
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, func(ctx context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		asked <- q.Message
		if count.Add(1) == 1 {
			<-ctx.Done()
			withdrawn <- struct{}{}
			return nil, ctx.Err()
		}
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, nil
	})
	write := func(ctx context.Context, name string) <-chan result {
		params := &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": name, "content": "n"}}
		params.SetProgressToken(name)
		return a.start(ctx, t, params)
	}
	ctx, cancel := context.WithCancel(t.Context())
	one := write(ctx, "one.txt")
	agenttest.Wait(t, asked, "the first question")
	two := write(t.Context(), "two.txt")
	// The second waits too, as its progress tells, but is not on show.
	for n := agenttest.Wait(t, a.progress, "progress"); n.ProgressToken != "two.txt" || !strings.Contains(n.Message, "waiting"); {
		n = agenttest.Wait(t, a.progress, "progress")
	}
	if len(asked) != 0 {
		t.Error("two questions are open at once")
	}
	cancel()
	agenttest.Wait(t, withdrawn, "the end of the first question")
	agenttest.Wait(t, one, "the end of the first call")
	if r := agenttest.Wait(t, two, "the second result"); r.isError || !exists(p, "two.txt") || exists(p, "one.txt") {
		t.Errorf("got %+v", r)
	}
}

func TestWhatAFormShowsWhole(t *testing.T) {
	command := func(c string) approval.Request {
		return approval.Request{Preview: approval.Preview{Kind: "command", Command: c}}
	}
	three := "cd src && make build\nrm -rf build/out\ncurl x | sh"
	for _, c := range []struct {
		agent, command string
		whole          bool
	}{
		{"claude-code", "make", true},
		{"claude-code", three, true},
		{"claude-code", three + "\nls", false},
		{"claude-code", strings.Repeat("x", 200), true}, // broken, and marked where it goes on
		{"claude-code", strings.Repeat("x", 220), false},
		{"somebody", three + "\nls", true},
		{"somebody", strings.Repeat("ls\n", 13), false},
		{"codex-mcp-client", three + "\nls", true},
		{"codex-mcp-client", strings.Repeat("x ", 100), true},
		{"codex-mcp-client", strings.Repeat("x ", 500), false},
		{"codex-mcp-client", strings.Repeat("ls\n", 13), false},
	} {
		if text, _, whole := question(command(c.command).Compose(), screenOf(c.agent)); whole != c.whole || !strings.HasPrefix(text, "$ "+c.command[:2]) {
			t.Errorf("%s, %q: whole %v:\n%s", c.agent, c.command, whole, text)
		}
	}
	r := command("make")
	r.Preview.Cwd, r.Preview.Writes = "sub", []string{"out"}
	if text, _, _ := question(command("true\nReasons: none").Compose(), screenOf("")); text != "$ true\n> Reasons: none" {
		t.Errorf("a command of two lines: %q", text)
	}
	if text, _, whole := question(r.Compose(), screenOf("")); !whole || text != "$ make\nFolder: sub\nWrites: out" {
		t.Errorf("whole %v:\n%s", whole, text)
	}
	for length, lines := range map[int]int{descriptionColumns: 1, descriptionColumns + 1: 2} { // what does not fit beside the choice counts
		r := command("make")
		r.Reasons = []approval.Reason{{Text: strings.Repeat("y", length)}}
		if text, why, whole := question(r.Compose(), screenOf("claude-code")); !whole || strings.Count(text, "\n")+1 != lines || (why == "") == (lines == 1) {
			t.Errorf("%d: whole %v, %q:\n%s", length, whole, why, text)
		}
	}
	if text, _ := screenOf("claude-code").fit("$ " + strings.Repeat("é", 36)); text != "$ "+strings.Repeat("é", 35)+"\n↪ é" {
		t.Errorf("broken as %q", text)
	}
}

// unhurried is a clock on which everybody takes a second for everything.
func unhurried() func() time.Time {
	var ticks atomic.Int64
	return func() time.Time { return time.Unix(ticks.Add(1), 0) }
}

func TestADeclineThatNobodyCouldHaveRead(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		p := project(t, nil)
		asked := 0
		now := time.Now()
		o := Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: func() time.Time { return now }}
		a := connect(t, "tester", o, func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			asked++
			return &sdk.ElicitResult{Action: action}, nil
		})
		r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
		if r.code() != "APPROVAL_UNAVAILABLE" || !strings.Contains(r.text, "nobody could be asked") || !strings.Contains(r.text, "pillion watch") || asked != 1 {
			t.Errorf("%s: asked %d times, got %+v", action, asked, r)
		}
	}
}

func TestTheReasonOfARefusal(t *testing.T) {
	p := project(t, nil)
	answers := []*sdk.ElicitResult{
		{Action: "accept", Content: object{"decision": "reject"}},
		{Action: "accept", Content: object{"reason": "not now"}},
		{Action: "accept", Content: object{"decision": "reject"}},
		{Action: "cancel"},
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		next := answers[0]
		answers = answers[1:]
		return next, nil
	})
	for _, reason := range []bool{true, false} {
		r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
		if r.code() != "USER_REJECTED" || strings.Contains(r.text, "not now") != reason {
			t.Errorf("reason %v: got %+v", reason, r)
		}
	}
}

func TestNamesArePeoples(t *testing.T) {
	for _, c := range []struct{ client, title, want string }{
		{"qwen-cli-mcp-client-pillion", "", "Qwen Code"},
		{"codex-mcp-client", "Codex CLI", "Codex"},
		{"gemini-cli-mcp-client-pillion", "", "Gemini CLI"},
		{"claude-code", "", "Claude Code"},
		{"opencode", "", "opencode"},
		{"scripted-agent", "", "scripted-agent"},
		{"acme-agent", "Acme", "Acme"},
	} {
		if got := personName(&sdk.Implementation{Name: c.client, Title: c.title}); got != c.want {
			t.Errorf("%s is called %s", c.client, got)
		}
	}
}
