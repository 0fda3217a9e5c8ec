package test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestSessionsInATerminal: open ones and kept ones, each as it is.
func TestSessionsInATerminal(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	check.Same(t, "before", pillion(t, e, "session"), "No agent has worked here yet, or nothing is kept of it any more.\n")
	busy(t, e, "p")
	e.Must("session/open", object{"sessionId": "q", "agent": object{"name": "evil\x1b[2J\u202eagent\nopen"}}, nil)
	callAs(e, "q", "todo_write", object{"todos": []object{item("1", "\x1b]0;"+strings.Repeat("wide ", 40)+"\nfaked", "in_progress")}})
	eventually(t, "both are kept", func() bool { return strings.Count(pillion(t, e, "session"), "calls: ") == 2 })
	eventually(t, "all is kept", func() bool {
		out := pillion(t, e, "session")
		return strings.Contains(out, "planner  p  plan, open") && strings.Contains(out, "calls: 4, changes: 1, rejected: 0, refused: 1") && strings.Contains(out, "1 of 2 completed")
	})
	for _, line := range strings.Split(pillion(t, e, "session"), "\n") {
		if utf8.RuneCountInString(line) > 80 || strings.ContainsAny(line, "\x1b\u202e\r") {
			t.Errorf("not fit for a terminal: %q", line)
		}
	}
	one := pillion(t, e, "session", "Planner")
	check.Has(t, "the session", one, "[ ] write", "[x] look", "write_file(x.txt)", "in "+e.Dir)
	refused := commandOf(e, "session", "--forget", "p")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "is open") {
		t.Errorf("an open session was forgotten: %s", out)
	}
	e.Stop()
	check.Has(t, "after its editor", pillion(t, e, "session", "p"), "plan, away")
	var s struct {
		sessionInfo
		Open    bool
		Folders []string
	}
	if out := pillion(t, e, "session", "--json", "p"); json.Unmarshal([]byte(out), &s) != nil || s.SessionID != "p" || s.Open || s.list() != "2:write:pending 1:look:completed" || s.Mode != "plan" {
		t.Errorf("as JSON: %s", out)
	}
	elsewhere := &testrig.Editor{Home: e.Home, Dir: t.TempDir()}
	check.Lacks(t, "in another folder", pillion(t, elsewhere, "session"), "planner")
	check.Has(t, "in all folders", pillion(t, elsewhere, "session", "--all"), "planner")
	pillion(t, e, "session", "--forget", "p")
	check.Lacks(t, "after it was forgotten", pillion(t, e, "session"), "planner")
}

// TestASessionIsFollowedInATerminal: its list is shown as it changes.
func TestASessionIsFollowedInATerminal(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	openAs(e, "p", "planner")
	step := func(what string) {
		callAs(e, "p", "todo_write", object{"todos": []object{item("1", what, "in_progress")}})
	}
	step("first")
	eventually(t, "the session is kept", func() bool { return strings.Contains(recordsText(e), "first") })
	command := commandOf(e, "session", "-f", "p")
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	lines := make(chan string, 256)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	for _, what := range []string{"first", "second", "third"} {
		step(what)
		for line := testrig.Wait(t, lines, what); line != "  [>] "+what; line = testrig.Wait(t, lines, what) {
		}
	}
	must(t, command.Process.Signal(os.Interrupt))
	if err := command.Wait(); err != nil {
		t.Errorf("Ctrl+C: %v", err)
	}
}

// overMCP is an agent that has started `pillion mcp`, and what it calls.
func overMCP(t *testing.T, e *testrig.Editor, env ...string) (call func(tool string, arguments object) string, end func()) {
	t.Helper()
	command := commandOf(e, "mcp")
	command.Env = append(command.Env, env...)
	client := mcp.NewClient(&mcp.Implementation{Name: "codex-mcp-client", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	must(t, err)
	end = func() { _ = s.Close() }
	t.Cleanup(end)
	return func(tool string, arguments object) string {
		t.Helper()
		r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		must(t, err)
		text, err := json.Marshal(r.Content)
		must(t, err)
		return string(text)
	}, end
}

// TestPillionMCPComesBack: by itself when the editor was restarted, and by a name of the
// agent's own when the agent was.
func TestPillionMCPComesBack(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	remember := object{"todos": []object{item("1", "remember", "pending")}}
	call, end := overMCP(t, e)
	call("todo_write", remember)
	e.Stop()
	e = again(t, e, testrig.Options{})
	check.Has(t, "after the editor's restart", call("todo_read", object{}), "remember")
	end()
	call, end = overMCP(t, e)
	check.Lacks(t, "the list of another conversation", call("todo_read", object{}), "remember")
	end()

	call, end = overMCP(t, e, "PILLION_SESSION=one")
	call("todo_write", remember)
	twin, endTwin := overMCP(t, e, "PILLION_SESSION=one")
	check.Lacks(t, "the list of a second at once", twin("todo_read", object{}), "remember")
	endTwin()
	end()
	for _, restart := range []bool{false, true} {
		if restart {
			e.Stop()
			e = again(t, e, testrig.Options{})
		}
		eventually(t, "the session comes back", func() bool {
			call, end := overMCP(t, e, "PILLION_SESSION=one")
			defer end()
			return strings.Contains(call("todo_read", object{}), "remember")
		})
		other, end := overMCP(t, e, "PILLION_SESSION=two")
		check.Lacks(t, "the list under another name", other("todo_read", object{}), "remember")
		end()
	}
}
