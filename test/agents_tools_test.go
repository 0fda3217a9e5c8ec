package test

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
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
