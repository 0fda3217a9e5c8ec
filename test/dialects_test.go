package test

import (
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

// TestDialectsOnTheWire: a session that was opened with a dialect calls its tools, and
// the user is asked about the canonical one.
func TestDialectsOnTheWire(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Must("session/open", object{"sessionId": "c", "agent": object{"name": "coder"}, "dialect": "coder"}, nil)
	coder := "read write list glob grep patch bash lsp_diagnostics lsp_definition lsp_hover todoread todowrite skill task"
	for params, want := range map[*object]string{
		{"dialect": "coder"}: coder, {"sessionId": "c"}: coder, {"dialect": "coder", "format": "openai"}: coder,
		{"dialect": "coder", "allowed": []string{"read", "run_command"}}: "read bash",
		{"dialect": "qwen", "allowed": []string{"edit"}}:                 "edit",
	} {
		if got := toolNames(e, *params); got != want {
			t.Errorf("%v: %s, want %s", *params, got, want)
		}
	}
	e.Write("notes.txt", "one\n")
	need := ask[struct{ Decision, Sentence string }](e, "tools/approval", object{"sessionId": "c", "name": "write", "arguments": object{"path": "notes.txt", "content": "two\n"}})
	if need.Decision != "ask" {
		t.Errorf("it needs %+v", need)
	}
	done := startAs(e, "c", "write", object{"path": "notes.txt", "content": "two\n"})
	a := testrig.Wait(t, e.Approvals, "the dialog")
	check.Same(t, "the user is asked about", a.Text("tool"), "write_file")
	a.Answer <- object{"decision": "reject", "feedback": "no"}
	r := testrig.Wait(t, done, "the result")
	if message, _ := r.StructuredContent["error"].(string); r.StructuredContent["ok"] != false || !strings.Contains(message, "no") || e.Read("notes.txt") != "one\n" {
		t.Errorf("%v", r.StructuredContent)
	}
	for _, method := range []string{"session/open", "tools/list"} {
		e.Refuses(method, object{"sessionId": "x", "dialect": "pirate"}, wire.CodeInvalidParams)
	}
}
