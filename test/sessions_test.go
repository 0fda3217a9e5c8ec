package test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

// sessionInfo is a session as the wire shows it.
type sessionInfo struct {
	SessionID, Parent                 string
	Agent                             struct{ Name, Via string }
	Mode, PauseReason, LastCall       string
	Connected, Paused                 bool
	Calls, Changes, Rejected, Refused int
	Turn, TodosRevision               int
	Grants                            []string
	Todos                             []struct{ ID, Content, Status, Priority string }
}

// list is its to-do list in one line.
func (s sessionInfo) list() string {
	var out []string
	for _, t := range s.Todos {
		out = append(out, t.ID+":"+t.Content+":"+t.Status)
	}
	return strings.Join(out, " ")
}

func sessions(e *testrig.Editor) []sessionInfo {
	return ask[struct{ Sessions []sessionInfo }](e, "session/list", object{}).Sessions
}

// sessionOf is the open session of the agent of that name, nil where there is none.
func sessionOf(e *testrig.Editor, name string) *sessionInfo {
	for _, s := range sessions(e) {
		if s.Agent.Name == name {
			return &s
		}
	}
	return nil
}

func openAs(e *testrig.Editor, id, agent string) (s sessionInfo) {
	e.Must("session/open", object{"sessionId": id, "agent": object{"name": agent}}, &s)
	return s
}

func callAs(e *testrig.Editor, id, tool string, arguments object) (r testrig.Result) {
	e.Must("tools/call", object{"sessionId": id, "name": tool, "arguments": arguments}, &r)
	return r
}

func item(id, content, status string) object {
	return object{"id": id, "content": content, "status": status, "priority": "medium"}
}

// TestTheUserChangesTheTodos: the agent hears of it once, and does not undo it unawares.
func TestTheUserChangesTheTodos(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	openAs(e, "p", "planner")
	written := object{"todos": []object{item("1", "look", "in_progress"), item("2", "write", "pending"), item("3", "test", "pending")}}
	callAs(e, "p", "todo_write", written)

	change := object{"sessionId": "p", "revision": 1, "todos": []object{item("3", "test", "pending"), item("1", "look", "completed"), {"content": "celebrate", "status": "pending"}}}
	var s sessionInfo
	e.Must("session/todos", change, &s)
	if want := "3:test:pending 1:look:completed user-1:celebrate:pending"; s.list() != want || s.TodosRevision != 2 {
		t.Errorf("changed to %s, revision %d", s.list(), s.TodosRevision)
	}
	e.Refuses("session/todos", change, wire.CodeContentModified) // a change of an older list
	r := callAs(e, "p", "todo_write", written)
	r.Want(t, "CONCURRENT_MODIFICATION") // of what it does not know
	want := `[removed "write" ticked "look" added "celebrate" reordered the list]`
	check.Same(t, "the agent hears", fmt.Sprint(r.StructuredContent["todos_changed"]), want)
	if text := `(the user changed your to-do list: removed "write", ticked "look", added "celebrate", reordered the list)`; !strings.Contains(r.Text(), text) {
		t.Errorf("the model reads %s", r.Text())
	}
	if r := callAs(e, "p", "todo_read", object{}); r.StructuredContent["todos_changed"] != nil || fmt.Sprint(r.StructuredContent["count"]) != "3" {
		t.Errorf("then it reads %v", r.StructuredContent)
	}
	callAs(e, "p", "todo_write", written).Want(t, "") // then it writes
	for _, todos := range map[string]any{
		"two at work": []object{item("1", "a", "in_progress"), item("2", "b", "in_progress")},
		"one id":      []object{item("1", "a", "pending"), item("1", "b", "pending")},
		"no status":   []object{{"content": "a"}}, "no text": []object{item("1", " ", "pending")}, "no list": nil,
	} {
		e.Refuses("session/todos", object{"sessionId": "p", "revision": 3, "todos": todos}, wire.CodeInvalidParams)
	}
}

// TestTodosChangedInEveryDialect: nobody misses it.
func TestTodosChangedInEveryDialect(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write("a.txt", "hello\n")
	for dialect, call := range map[string]object{
		"coder": {"name": "read", "arguments": object{"path": "a.txt"}},
		"qwen":  {"name": "list_directory", "arguments": object{"path": e.Dir}},
		"":      {"name": "read_file", "arguments": object{"path": "a.txt"}},
	} {
		id := "s" + dialect
		e.Must("session/open", object{"sessionId": id, "dialect": dialect}, nil)
		e.Must("session/todos", object{"sessionId": id, "revision": 0, "todos": []object{{"content": "look", "status": "pending"}}}, nil)
		call["sessionId"] = id
		for _, told := range []bool{true, false} {
			var r json.RawMessage
			e.Must("tools/call", call, &r)
			if got := strings.Contains(string(r), `added \"look\"`) || strings.Contains(string(r), `added \\\"look\\\"`); got != told {
				t.Errorf("%q tells: %v, want %v: %s", dialect, got, told, r)
			}
		}
	}
}

// TestSessionsAreShownAsTheyChange: the last state arrives, and nothing without a change.
func TestSessionsAreShownAsTheyChange(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	var mu sync.Mutex
	var heard []string
	last := make(chan sessionInfo, 256)
	e.OnNotice(func(method string, params json.RawMessage) {
		var p struct {
			Session sessionInfo
			Ended   bool
		}
		if method != "session/changed" || json.Unmarshal(params, &p) != nil || p.Session.SessionID != "p" {
			return
		}
		if p.Ended {
			p.Session.Mode = "ended"
		}
		mu.Lock()
		heard = append(heard, string(params))
		mu.Unlock()
		last <- p.Session
	})
	until := func(what string, is func(sessionInfo) bool) {
		t.Helper()
		for s := testrig.Wait(t, last, what); !is(s); s = testrig.Wait(t, last, what) {
		}
	}
	openAs(e, "p", "planner")
	until("the session", func(s sessionInfo) bool { return s.Connected })
	for i := range 100 {
		callAs(e, "p", "todo_write", object{"todos": []object{item("1", fmt.Sprint("step ", i), "pending")}})
	}
	until("the last step", func(s sessionInfo) bool { return s.list() == "1:step 99:pending" && s.Calls == 100 && s.LastCall != "" })
	e.Must("session/setMode", object{"sessionId": "p", "mode": "plan"}, nil)
	until("the mode", func(s sessionInfo) bool { return s.Mode == "plan" })
	callAs(e, "p", "write_file", object{"path": "x", "content": ""}).Want(t, "POLICY_DENIED") // in plan mode
	until("the refusal", func(s sessionInfo) bool { return s.Refused == 1 })
	e.Must("session/pause", object{"sessionId": "p"}, nil)
	until("the pause", func(s sessionInfo) bool { return s.Paused })
	e.Must("session/close", object{"sessionId": "p"}, nil)
	until("the end", func(s sessionInfo) bool { return s.Mode == "ended" && !s.Connected })
	mu.Lock()
	defer mu.Unlock()
	if len(heard) > 60 {
		t.Errorf("%d messages", len(heard))
	}
	if len(slices.Compact(slices.Clone(heard))) != len(heard) {
		t.Error("one state came twice")
	}
}

// TestRevoke: what was approved for the session, a rule or a secret, is in its list, and asks again
// once it is taken back.
func TestRevoke(t *testing.T) {
	t.Parallel()
	write := func(content string) object { return object{"path": "x.txt", "content": content} }
	secret := object{"path": ".env"}
	for rule, c := range map[string]struct {
		tool    string
		calls   [3]object
		changes int
	}{
		"write_file(x.txt)": {"write_file", [3]object{write("1"), write("2"), write("3")}, 2},
		"secret(.env)":      {"read_file", [3]object{secret, secret, secret}, 0},
	} {
		e := spawn(t, testrig.Options{})
		e.Write(".env", "TOKEN=1\n")
		openAs(e, "p", "planner")
		first := startAs(e, "p", c.tool, c.calls[0])
		a := testrig.Wait(t, e.Approvals, "the dialog")
		answer, choice := object{"decision": "approve"}, sessionChoice(a)
		if c.changes > 0 {
			answer["decisionId"] = choice["id"]
			check.Same(t, "on offer", choice["rule"], any(rule))
		}
		a.Answer <- answer
		testrig.Wait(t, first, "the result")
		if r := callAs(e, "p", c.tool, c.calls[1]); r.IsError {
			t.Fatalf("with %s: %v", rule, r.StructuredContent)
		}
		s := openAs(e, "p", "planner")
		if !slices.Equal(s.Grants, []string{rule}) || s.Changes != c.changes || s.Calls != 2 {
			t.Fatalf("the session is %+v", s)
		}
		e.Refuses("session/revoke", object{"sessionId": "p", "rule": c.tool}, wire.CodeInvalidParams) // a rule that there is not
		e.Must("session/revoke", object{"sessionId": "p", "rule": rule}, &s)
		if len(s.Grants) != 0 {
			t.Errorf("still granted: %v", s.Grants)
		}
		asked(t, e, startAs(e, "p", c.tool, c.calls[2]), no).Want(t, "USER_REJECTED")
		if s = openAs(e, "p", "planner"); s.Rejected != 1 {
			t.Errorf("%d rejected", s.Rejected)
		}
	}
}
