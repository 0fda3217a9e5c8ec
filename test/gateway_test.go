package test

import (
	"fmt"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/gateway"
)

// atGateway is an editor whose sidecar is connected to a gateway.
func atGateway(t *testing.T, o testrig.Options) (*testrig.Editor, *gateway.Server, *gateway.Conn) {
	t.Helper()
	g := gateway.New(t)
	e := spawn(t, o)
	e.Must("gateway/connect", object{"url": g.URL, "token": "s3cret", "sessionId": "one"}, nil)
	return e, g, g.Accept()
}

// TestAGatewaysCalls: frames in, frames out, of the tools of a real sidecar.
func TestAGatewaysCalls(t *testing.T) {
	t.Parallel()
	e, _, c := atGateway(t, testrig.Options{})
	if c.Path != "/ws/one" || c.Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("it connects to %s as %v", c.Path, c.Header)
	}
	e.Write("notes.txt", "one\n")

	c.Call("r1", "read_file", object{"path": "/notes.txt"})
	f := c.Next()
	if r := f.Object("result"); f.Text("type") != "tool_result" || f.Text("call_id") != "r1" || r.Text("content") != "one\n" || r["success"] != true || r["ok"] != true {
		t.Errorf("the read gives %v", f)
	}
	c.Send(object{"type": "tool_call", "call_id": "r2", "tool_name": "read_file", "args": object{"path": "none.txt"}})
	f = c.Next()
	if f.Object("error").Text("code") != "FILE_NOT_FOUND" || f.Text("error_code") != "FILE_NOT_FOUND" || f["result"] != nil {
		t.Errorf("a file that is not there gives %v", f)
	}

	c.Call("w1", "write_file", object{"path": "new.txt", "content": "two\n"})
	a := testrig.Wait(t, e.Approvals, "the dialog")
	if agent := fmt.Sprint(a.File("agent"), a.Text("sessionId"), a.Text("callId")); !strings.Contains(agent, "via:gateway") || !strings.Contains(agent, "127.0.0.1") || !strings.HasSuffix(agent, "one w1") {
		t.Errorf("the dialog is for %s", agent)
	}
	a.Answer <- object{"decision": "approve"}
	if f = c.Next(); f.Text("type") != "hitl_decision" || f.Text("call_id") != "w1" || f.Text("decision") != "approve" {
		t.Errorf("the decision is %v", f)
	}
	if f = c.Next(); f.Object("result").Text("operation") != "create" || e.Read("new.txt") != "two\n" {
		t.Errorf("the write gives %v", f)
	}
}
