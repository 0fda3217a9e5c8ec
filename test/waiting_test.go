package test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
)

// agentOf connects a real MCP client to the real `pillion mcp`, in an editor's folder.
func agentOf(t *testing.T, e *testrig.Editor, args ...string) *mcp.ClientSession {
	t.Helper()
	return agentWith(t, e, nil, args...)
}

// agentWith is such an agent that can more.
func agentWith(t *testing.T, e *testrig.Editor, o *mcp.ClientOptions, args ...string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: commandOf(e, append([]string{"mcp"}, args...)...)}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	must(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// TestTheAnswerIsCollected: the agent's client would give up while you read the diff. The
// call is answered in time, the dialog stays, and the change is made once.
func TestTheAnswerIsCollected(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write("a.txt", "one\n")
	agent := agentOf(t, e, "--answer-within", "1")
	call := func(tool string, arguments object) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), testrig.Patience)
		defer cancel()
		r, err := agent.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		must(t, err)
		text, ok := r.Content[0].(*mcp.TextContent)
		if !ok || r.IsError {
			t.Fatalf("%s gave %+v", tool, r)
		}
		return text.Text
	}
	edit := object{"path": "a.txt", "old_string": "one", "new_string": "one, two"}
	const still = "still waiting for the user; call wait_for_answer with id w1"
	if got := call("edit_file", edit); got != still && got != strings.Replace(still, "waiting for the user", "running", 1) { // there may be no dialog yet
		t.Errorf("got %q", got)
	}
	dialog := testrig.Wait(t, e.Approvals, "the dialog")
	eventually(t, "that it is known to wait", func() bool { return call("wait_for_answer", object{"id": "w1"}) == still })
	if got := call("edit_file", edit); got != still {
		t.Errorf("got %q", got)
	}
	dialog.Answer <- object{"decision": "approve", "decisionId": "approve", "digest": dialog.Text("digest")}
	got := ""
	eventually(t, "that it is done", func() bool {
		got = call("wait_for_answer", object{"id": "w1"})
		return !strings.HasPrefix(got, "still running")
	})
	if !strings.Contains(got, "a.txt") || e.Read("a.txt") != "one, two\n" {
		t.Errorf("got %q, and the file holds %q", got, e.Read("a.txt"))
	}
	if len(e.Approvals) != 0 {
		t.Error("the user was asked twice")
	}
}
