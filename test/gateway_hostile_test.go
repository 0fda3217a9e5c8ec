package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/testrig/gateway"
	"pillion/internal/testrig/machine"
)

// TestFramesThatAreWrong: each is answered with what is wrong, and the connection goes on.
func TestFramesThatAreWrong(t *testing.T) {
	t.Parallel()
	e, _, c := atGateway(t, testrig.Options{})
	e.Write("notes.txt", "one\n")
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for frame, want := range map[string]string{
		``:                     "error INVALID_ARGUMENTS ",
		`[]`:                   "error INVALID_ARGUMENTS ",
		`{"type": "tool_call"`: "error INVALID_ARGUMENTS ",
		`{}`:                   "error INVALID_ARGUMENTS ",
		`{"type": 7}`:          "error INVALID_ARGUMENTS ",
		`{"type": "\u0000"}`:   "error INVALID_ARGUMENTS ",
		"{\"type\": \"\xff\"}": "error INVALID_ARGUMENTS ",
		`{"type": "tool_call", "tool_name": "glob"}`:                                                    "error INVALID_ARGUMENTS ",
		`{"type": "tool_call", "tool_name": "glob", "call_id": 7}`:                                      "error INVALID_ARGUMENTS ",
		`{"type": "tool_call", "tool_name": "glob", "call_id": ""}`:                                     "error INVALID_ARGUMENTS ",
		`{"type": "tool_call", "tool_name": "glob", "call_id": "a\u202eb"}`:                             "error INVALID_ARGUMENTS ",
		`{"type": "tool_call", "call_id": "1"}`:                                                         "tool_result INVALID_ARGUMENTS 1",
		`{"type": "tool_call", "call_id": "2", "tool_name": 7}`:                                         "tool_result INVALID_ARGUMENTS 2",
		`{"type": "tool_call", "call_id": "3", "tool_name": "glob", "arguments": {}, "args": {"a": 1}}`: "tool_result INVALID_ARGUMENTS 3",
		`{"type": "tool_call", "call_id": "4", "tool_name": "glob", "arguments": []}`:                   "tool_result INVALID_ARGUMENTS 4",
		`{"type": "tool_call", "call_id": "5", "tool_name": "glob", "timeout_seconds": 1e9}`:            "tool_result INVALID_ARGUMENTS 5",
		`{"type": "tool_call", "call_id": "6", "tool_name": "glob", "requires_approval": "no"}`:         "tool_result INVALID_ARGUMENTS 6",
		`{"type": "tool_call", "call_id": "7", "tool_name": "glob", "arguments": ` + deep + `}`:         "error INVALID_ARGUMENTS ",
		`{"type": "tool_result", "call_id": 7}`:                                                         "error INVALID_ARGUMENTS ",
		`{"type": "context_update", "action": "burn"}`:                                                  "error INVALID_ARGUMENTS ",
		`{"type": "context_update", "action": "add_file", "data": {"path": ""}}`:                        "error INVALID_ARGUMENTS ",
		`{"type": "initialize"}`: "error INVALID_ARGUMENTS ",
		`{"type": "error", "message": "` + strings.Repeat("x", 11<<20) + `"}`: "error FILE_TOO_LARGE ",
	} {
		c.Send(frame)
		f := c.Next()
		if got := fmt.Sprintf("%s %s %s", f.Text("type"), f.Text("error_code"), f.Text("call_id")); got != want {
			t.Errorf("%.100s gives %s, want %s: %v", frame, got, want, f)
		}
	}
	c.Call("last", "read_file", object{"path": "notes.txt"})
	check.Same(t, "after all that", c.Next().Object("result").Text("content"), "one\n")
}

// TestCallsThatComeTwice: a call is made and answered once, however often and over however
// many connections it comes.
func TestCallsThatComeTwice(t *testing.T) {
	t.Parallel()
	e, g, c := atGateway(t, testrig.Options{})
	e.Must("session/setMode", object{"sessionId": "one", "mode": "full_access"}, nil)
	again := object{"type": "tool_call", "call_id": "1", "tool_name": "run_command", "arguments": object{"command": "echo made >> made.txt"}}
	c.Send(again)
	c.Send(again)
	eventually(t, "it", func() bool { return row(t, e, "1") == "done" })
	for f := c.Next(); f.Object("result")["exit_code"] == nil; f = c.Next() {
	}
	c.Send(again)
	c.Call("2", "glob", object{"pattern": "made*"})
	check.Same(t, "it was answered again", c.Next().Text("call_id"), "2")
	eventually(t, "it", func() bool { // what was sent is known to have arrived, and is not sent again
		c.Break()
		c = g.Accept()
		c.Send(again)
		c.Call(fmt.Sprint(time.Now().UnixNano()), "glob", object{"pattern": "*"})
		return c.Next().Text("call_id") != "2"
	})
	wantText(t, e, "made.txt", "made\n")
}

// TestADialogOutlivesTheConnection: what is answered while there is none is sent after the
// next one is made.
func TestADialogOutlivesTheConnection(t *testing.T) {
	t.Parallel()
	e, g, c := atGateway(t, testrig.Options{})
	c.Call("1", "write_file", object{"path": "a.txt", "content": "a"})
	a := testrig.Wait(t, e.Approvals, "the dialog")
	g.Refuse.Store(503)
	c.Break()
	eventually(t, "it", func() bool { return gatewayNow(e).State == "reconnecting" })
	a.Answer <- object{"decision": "approve"}
	eventually(t, "it", func() bool { return row(t, e, "1") == "done" })
	g.Refuse.Store(0)
	c = g.Accept()
	if got := sums([]gateway.Frame{c.Next(), c.Next()}); got != `approve "" null, result` {
		t.Errorf("%s", got)
	}
}

// TestAGatewayThatFloods: what it wants is done in its order and bounded, and the editor is
// served meanwhile.
func TestAGatewayThatFloods(t *testing.T) {
	t.Parallel()
	e, _, c := atGateway(t, testrig.Options{Settings: object{"limits": object{"readsPerMinute": 1_000_000}}})
	e.Write("notes.txt", "one\n")
	calls := machine.Cases(500, 3000) // of which 16 + 64 are taken in at once
	go func() {
		for i := range calls {
			_ = c.Try(object{"type": "tool_call", "call_id": fmt.Sprint(i), "tool_name": "read_file", "arguments": object{"path": "notes.txt"}})
			_ = c.Try(object{"type": "assistant_message", "token": strings.Repeat("x", 1000)})
		}
	}()
	e.Call("read_file", object{"path": "notes.txt"}).Want(t, "") // the editor is served
	answered := map[string]bool{}
	for len(answered) < calls {
		f := c.Next()
		if answered[f.Text("call_id")] || f["result"] == nil {
			t.Fatalf("%v", f)
		}
		answered[f.Text("call_id")] = true
	}
}

// TestAGatewayThatAsksAndAsks: only so many requests wait for the user.
func TestAGatewayThatAsksAndAsks(t *testing.T) {
	t.Parallel()
	e, _, c := atGateway(t, testrig.Options{Settings: object{"limits": object{"changesPerMinute": 1_000_000}}})
	const calls = 600
	for i := range calls {
		c.Call(fmt.Sprint(i), "write_file", object{"path": fmt.Sprint(i), "content": "x"})
	}
	refused := 0
	for refused < calls-64-16-64 { // with those that came before so many waited
		if f := c.Next(); f.Text("error_code") != "RATE_LIMITED" {
			t.Fatalf("%v", f)
		}
		refused++
	}
	c.Call("read", "glob", object{"pattern": "*"})
	for f := c.Next(); f.Text("call_id") != "read"; f = c.Next() {
		refused++
	}
	eventually(t, "it", func() bool { return len(e.Approvals) >= 64 }) // they are made one after the other
	e.Must("gateway/disconnect", object{}, nil)
	for len(e.Approvals) > 0 {
		a := <-e.Approvals
		<-a.Ctx.Done() // it is withdrawn
	}
}

// TestAGatewayThatStalls: one that asks for much and takes nothing of it fills no memory, and
// holds up neither the editor nor the user who disconnects it.
func TestAGatewayThatStalls(t *testing.T) {
	t.Parallel()
	g, e := gateway.New(t), spawn(t, testrig.Options{Settings: object{"limits": object{"readsPerMinute": 1_000_000}}})
	g.Deaf.Store(true)
	e.Must("gateway/connect", object{"url": g.URL, "token": "", "sessionId": "one"}, nil)
	c := g.Accept()
	e.Write("large.txt", strings.Repeat("some words on a line\n", 50_000))
	sent := make(chan int, 1)
	go func() {
		n := 0
		for ; n < 2000 && c.Try(object{"type": "tool_call", "call_id": fmt.Sprint(n), "tool_name": "read_file", "arguments": object{"path": "large.txt"}}) == nil; n++ {
		}
		sent <- n
	}()
	eventually(t, "it", func() bool { // as much as may wait for it; how much more was read before, is a matter of time
		done := 0
		for _, entry := range talk(t, e).Entries {
			if entry.Call.State == "done" {
				done++
			}
		}
		return done >= 8
	})
	e.Call("read_file", object{"path": "large.txt", "end_line": 1}).Want(t, "") // the editor is served
	checkMemoryBelow(t, e.Command.Process.Pid, 400)                             // of the two thousand that it wants
	e.Must("gateway/disconnect", object{}, nil)
	testrig.Wait(t, sent, "the end of what it sends")
}

// TestTheTokenIsNowhere: after a session no file, log or process has the token.
func TestTheTokenIsNowhere(t *testing.T) {
	t.Parallel()
	const token = "t0k3n-that-nobody-must-see"
	g := gateway.New(t)
	g.Token.Store(token)
	e := spawn(t, testrig.Options{})
	var log bytes.Buffer
	e.OnNotice(func(_ string, params json.RawMessage) { log.Write(params) })
	e.Must("gateway/connect", object{"url": g.URL, "token": token, "sessionId": "one"}, nil)
	c := g.Accept()
	e.Must("session/setMode", object{"sessionId": "one", "mode": "full_access"}, nil)
	c.Call("1", "run_command", object{"command": "env; cat /proc/$PPID/environ /proc/$PPID/cmdline 2>/dev/null; ps aux 2>/dev/null; true"})
	for f := c.Next(); ; f = c.Next() {
		check.Lacks(t, "what a command prints", fmt.Sprint(f), token)
		if f.Object("result")["exit_code"] != nil {
			break
		}
	}
	g.Refuse.Store(500)
	c.Break()
	var state map[string]any
	eventually(t, "it", func() bool {
		e.Must("gateway/status", object{}, &state)
		return state["error"] != nil
	})
	check.Lacks(t, "the state", fmt.Sprint(state), token)
	nowhere(t, e, log.String(), token)
}

// nowhere ends the editor, and looks for a secret in what it was told and in all files.
func nowhere(t *testing.T, e *testrig.Editor, told, secret string) {
	t.Helper()
	e.Stop()
	check.Lacks(t, "what the editor is told", told, secret)
	for _, dir := range []string{e.Home, e.Dir} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s has it", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestTwoGatewaysAndAnAgentOnOneFile: each has its own session, knows what it read, and hears
// of what the others did.
func TestTwoGatewaysAndAnAgentOnOneFile(t *testing.T) {
	t.Parallel()
	e, g, one := atGateway(t, testrig.Options{})
	e.Must("gateway/connect", object{"url": g.URL, "sessionId": "two"}, nil)
	two := g.Accept()
	e.Write("a.txt", "one\ntwo\nthree\n")
	for _, c := range []*gateway.Conn{one, two} {
		c.Call("r", "read_file", object{"path": "a.txt"})
		c.Next()
	}
	edit := func(c *gateway.Conn, id, old, now string) gateway.Frame {
		c.Call(id, "edit_file", object{"path": "a.txt", "old_string": old, "new_string": now})
		testrig.Wait(t, e.Approvals, "the dialog").Answer <- object{"decision": "approve"}
		c.Next()
		return c.Next()
	}
	edit(one, "e", "one\n", "1\n")
	if f := edit(two, "e", "three\n", "3\n"); f.Object("result") == nil || e.Read("a.txt") != "1\ntwo\n3\n" {
		t.Errorf("%v; the file is %q", f, e.Read("a.txt"))
	}
	agent := agentOf(t, e)
	done := make(chan *mcp.CallToolResult, 1)
	go func() {
		r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "edit_file", Arguments: object{"path": "a.txt", "old_string": "two\n", "new_string": "2\n"}})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	a := testrig.Wait(t, e.Approvals, "the agent's dialog")
	two.Call("beneath", "edit_file", object{"path": "a.txt", "old_string": "1\n", "new_string": "one\n"})
	testrig.Wait(t, e.Approvals, "the gateway's dialog").Answer <- object{"decision": "approve"}
	two.Next()
	two.Next()
	a.Answer <- object{"decision": "approve"}
	if r := asked(t, e, done, yes); r == nil || r.IsError || e.Read("a.txt") != "one\n2\n3\n" {
		t.Errorf("%+v; the file is %q", r, e.Read("a.txt"))
	}
	one.Call("again", "glob", object{"pattern": "*"})
	check.Same(t, "the first is not told", fmt.Sprint(one.Next().Object("result")["changed_outside"]), "[a.txt]")
	if status := gatewayNow(e); fmt.Sprint(status.Connections) != "[{one connected} {two connected}]" {
		t.Errorf("%v", status)
	}
}

// cutter is between the sidecar and a gateway, and breaks each connection off after so many
// bytes in a direction.
type cutter struct {
	URL string
	mu  sync.Mutex // guards all below
	// up and down are how many bytes more may pass, to the gateway and from it; below 0: any
	// number.
	up, down int
}

func cutting(t *testing.T, to string) *cutter {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	host, path, _ := strings.Cut(strings.TrimPrefix(to, "ws://"), "/")
	c := &cutter{URL: "ws://" + listener.Addr().String() + "/" + path, up: -1, down: -1}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", host)
			if err != nil {
				near.Close()
				continue
			}
			go c.pass(near, far, &c.up)
			go c.pass(far, near, &c.down)
		}
	}()
	return c
}

func (c *cutter) pass(from, to net.Conn, left *int) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		c.mu.Lock()
		cut := *left >= 0 && n >= *left
		if cut {
			n, *left = *left, -1 // once; the next connection is whole
		} else if *left >= 0 {
			*left -= n
		}
		c.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil || cut {
			return
		}
	}
}

func (c *cutter) allow(up, down int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.down = up, down
}

// TestConnectionsThatBreak: wherever a connection breaks off, between two frames or within
// one, in either direction, each call is made once and its answer arrives.
func TestConnectionsThatBreak(t *testing.T) {
	t.Parallel()
	g := gateway.New(t)
	middle := cutting(t, g.URL)
	e := spawn(t, testrig.Options{Settings: object{"limits": object{"changesPerMinute": 100_000}}})
	e.Must("gateway/connect", object{"url": middle.URL, "sessionId": "one"}, nil)
	e.Must("session/setMode", object{"sessionId": "one", "mode": "full_access"}, nil)
	conn := g.Accept()
	answers := map[string]int{}
	// note reads what has come over connections that may be over.
	note := func(c *gateway.Conn) {
		for _, f := range c.Rest() {
			if f.Text("type") == "tool_result" && f.Object("result")["exit_code"] != nil {
				answers[f.Text("call_id")]++
			}
		}
	}
	command := func(id string) object {
		return object{"type": "tool_call", "call_id": id, "tool_name": "run_command", "arguments": object{"command": "echo " + id + " >> made.txt; echo done"}}
	}
	var ids []string
	for cut := 0; cut < 30; cut += machine.Cases(4, 1) {
		// Of a frame down of some 150 bytes, and of frames up of some 500.
		for _, way := range []string{"up", "down"} {
			if way == "up" {
				middle.allow(cut*25, -1)
			} else {
				middle.allow(-1, cut*8)
			}
			id := fmt.Sprintf("%s-%d", way, cut)
			ids = append(ids, id)
			_ = conn.Try(command(id)) // where it breaks off at once, it is sent again
			eventually(t, "it", func() bool {
				over := conn.Over()
				note(conn)
				if over {
					conn = g.Accept()
					_ = conn.Try(command(id)) // a gateway without an answer sends its call again
				}
				return answers[id] > 0
			})
			middle.allow(-1, -1)
		}
	}
	made := strings.Fields(e.Read("made.txt"))
	check.Same(t, "what was made", strings.Join(made, " "), strings.Join(ids, " "))
}
