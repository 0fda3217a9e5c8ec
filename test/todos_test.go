package test

import (
	"fmt"
	"testing"

	"pillion/internal/testrig"
)

// TestTodosOfASession: each session has a list of its own, which a list with a mistake
// leaves as it is, in plan mode too.
func TestTodosOfASession(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Must("session/open", object{"sessionId": "p", "agent": object{"name": "planner"}, "mode": "plan"}, nil)
	call := func(session, tool string, arguments object) string {
		var r testrig.Result
		e.Must("tools/call", object{"sessionId": session, "name": tool, "arguments": arguments}, &r)
		return fmt.Sprint(r.StructuredContent["session_id"], " ", r.StructuredContent["count"], " ", r.StructuredContent["in_progress"])
	}
	item := object{"id": "1", "content": "look", "status": "in_progress", "priority": "high"}
	if got := call("p", "todo_write", object{"todos": []object{item}}); got != "p 1 map[content:look id:1 priority:high status:in_progress]" {
		t.Errorf("written: %s", got)
	}
	if got := call("p", "todo_write", object{"todos": []object{item, item}}); got != "<nil> <nil> <nil>" {
		t.Errorf("an id twice gave a list: %s", got)
	}
	if got := call("p", "todo_read", object{}); got != "p 1 map[content:look id:1 priority:high status:in_progress]" {
		t.Errorf("read: %s", got)
	}
	if got := call("q", "todo_read", object{}); got != "q 0 <nil>" {
		t.Errorf("another session reads %s", got)
	}
}
