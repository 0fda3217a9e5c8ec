package test

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

const onlyReads = `{"agents": {"*": {"tools": ["read_file"]}}}`

// toolNames are those of a list that an editor gets.
func toolNames(e *testrig.Editor, params object) string {
	var list struct {
		Tools []struct {
			Name     string
			Function struct{ Name string }
		}
	}
	e.Must("tools/list", params, &list)
	var names []string
	for _, one := range list.Tools {
		names = append(names, one.Name+one.Function.Name)
	}
	return strings.Join(names, " ")
}

// TestToolsThatAProjectTakesAway: it needs no trust for that, and gives nothing.
func TestToolsThatAProjectTakesAway(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"agents": object{"*": object{"tools": []string{"read_file", "write_file", "no_such"}}}}})
	check.Same(t, "by the user's settings", toolNames(e, object{}), "read_file write_file")
	check.Same(t, "of two that are wanted", toolNames(e, object{"allowed": []string{"read_file", "glob"}}), "read_file")
	e.Call("glob", object{"pattern": "*"}).Want(t, "TOOL_NOT_FOUND")
	e.Write(settingsFile, `{"agents": {"*": {"tools": ["all"]}}}`)
	check.Same(t, "a project turned on", toolNames(e, object{}), "read_file write_file")
	e.Write(settingsFile, onlyReads)
	check.Same(t, "a project took nothing away", toolNames(e, object{}), "read_file")
	wantDecision(t, e, "write_file", write, "refuse")
}

// TestAToolIsTakenAwayWhileItAsks: a yes is none then.
func TestAToolIsTakenAwayWhileItAsks(t *testing.T) {
	t.Parallel()
	for tool, arguments := range map[string]object{"write_file": write, "run_command": {"command": "echo hi >notes.txt"}} {
		e := spawn(t, testrig.Options{})
		a, done := e.Ask(tool, arguments)
		e.Write(settingsFile, onlyReads)
		r := answered(t, a, done, yes)
		if message := r.Text(); r.Code() != "TOOL_NOT_FOUND" || !strings.Contains(message, "unknown tool: "+tool) || !strings.Contains(message, "agents.*.tools") || e.Read("notes.txt") != "" {
			t.Errorf("%s: %v", tool, r.StructuredContent)
		}
	}
}

// TestToolsOfAnAgent: over the real `pillion mcp`, by the settings and by its flag.
func TestToolsOfAnAgent(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"agents": object{"Tester": object{"tools": []string{"read_file", "git_log"}}, "codex": object{"tools": []string{}}}}})
	e.Write("a.txt", "one\n")
	for _, test := range []struct {
		args        []string
		lists, off  string
		where       string
		readFileRun bool
	}{
		{nil, "git_log read_file wait_for_answer", "glob", "agents.Tester.tools", true},
		{[]string{"--tools", "core", "--structured"}, "read_file wait_for_answer", "git_log", "pillion mcp --tools", true},
		{[]string{"--tools", "git_log"}, "git_log wait_for_answer", "read_file", "pillion mcp --tools", false},
	} {
		agent := agentOf(t, e, test.args...)
		list, err := agent.ListTools(t.Context(), nil)
		must(t, err)
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != test.lists {
			t.Errorf("%q lists %s, want %s", test.args, got, test.lists)
		}
		for tool, on := range map[string]bool{"read_file": test.readFileRun, test.off: false} {
			r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: object{"path": "a.txt"}})
			var refused *jsonrpc.Error
			switch {
			case on && (err != nil || r.IsError):
				t.Errorf("%q: %s gave %+v, %v", test.args, tool, r, err)
			case !on && (!errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams || !strings.HasPrefix(refused.Message, "unknown tool") || !strings.Contains(refused.Message, test.where)):
				t.Errorf("%q: %s gave %+v, %v", test.args, tool, r, err)
			}
		}
	}
	e.Call("glob", object{"pattern": "*"}).Want(t, "") // the editor's own
}

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
