package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/rpc"
)

func TestEveryRequestBeforeInitializeIsRefused(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Silent: true})
	for _, method := range rpc.Methods() {
		if method == "initialize" || method == "exit" {
			continue
		}
		e.Refuses(method, object{}, -32002)
	}
	e.Refuses("no/such", object{}, -32002) // an unknown method before initialize
	e.Initialize(testrig.Options{Dirs: []string{e.Dir}})
	e.Refuses("no/such", object{}, -32601) // an unknown method
}

func TestInitializeSaysWhatItCanDo(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Silent: true})
	raw := e.Initialize(testrig.Options{Dirs: []string{e.Dir}})
	var result struct {
		ServerInfo   struct{ Name, Version string }
		Capabilities struct {
			TextDocumentSync struct {
				OpenClose bool
				Change    int
				Save      any
			}
			Workspace struct {
				WorkspaceFolders struct {
					Supported           bool
					ChangeNotifications any
				}
			}
			ExecuteCommandProvider *struct{ Commands []string }
			Experimental           struct{ Pillion struct{ ProtocolVersion int } }
		}
	}
	must(t, json.Unmarshal(raw, &result))
	c := result.Capabilities
	if result.ServerInfo.Name != "pillion" || result.ServerInfo.Version == "" || c.Experimental.Pillion.ProtocolVersion != 1 {
		t.Errorf("initialize answered %s", raw)
	}
	if !c.TextDocumentSync.OpenClose || c.TextDocumentSync.Change != 2 || c.TextDocumentSync.Save == nil || !c.Workspace.WorkspaceFolders.Supported {
		t.Errorf("the capabilities lack document or folder sync: %s", raw)
	}
	if c.ExecuteCommandProvider != nil {
		t.Error("commands are offered to an editor whose plugin has its own")
	}
	e.Refuses("initialize", object{"capabilities": object{}}, -32600) // a second initialize
}

func TestShutdownAndExit(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Must("shutdown", nil, nil)
	e.Refuses("tools/list", object{}, -32600) // after shutdown
	e.Notify("exit", nil)
	testrig.Wait(t, e.Conn.Done(), "the end of the connection")
	if err := e.Command.Wait(); err != nil {
		t.Errorf("exit after shutdown: %v, want code 0", err)
	}
}

// TestShutdownEndsWhatWaits: each request is answered, and a yes that comes later does nothing.
func TestShutdownEndsWhatWaits(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	done := make(chan int64, 1)
	go func() { done <- e.Code("tools/call", object{"name": "edit_file", "arguments": edit}) }()
	a := testrig.Wait(t, e.Approvals, "the dialog")
	e.Must("shutdown", nil, nil)
	check.Same(t, "the call that waited: code", testrig.Wait(t, done, "the answer to the call"), -32800)
	a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
	e.Notify("exit", nil)
	testrig.Wait(t, e.Conn.Done(), "the end of the connection")
	wantText(t, e, "app.py", app)
}

func TestExitWithoutShutdownIsAFailure(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Notify("exit", nil)
	testrig.Wait(t, e.Conn.Done(), "the end of the connection")
	e.Command.Wait() //nolint:errcheck // the code is looked at
	if code := e.Command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit without shutdown: code %d, want 1", code)
	}
}

func TestAFolderThatIsGoneIsLeftOut(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	e := spawn(t, testrig.Options{Dirs: []string{here, filepath.Join(here, "gone")}})
	e.Write("a.txt", "here")
	check.Same(t, "read_file", e.Call("read_file", object{"path": "a.txt"}).StructuredContent["content"], "here")
}

func TestWithoutAFolderThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Silent: true})
	e.Must("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{}}, nil)
	e.Call("read_file", object{"path": "a.txt"}).Want(t, "PATH_OUTSIDE_WORKSPACE")
}

// raw is a sidecar whose frames the test writes by hand.
type raw struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func spawnRaw(t *testing.T) *raw {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "serve", "--stdio")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "PILLION_TEST_MAIN=1")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	r := &raw{t, in, bufio.NewReader(out), cmd}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() //nolint:errcheck // its code is none of this test's business
	})
	r.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"rootUri":%q,"capabilities":{}}}`, testrig.URI(t.TempDir())))
	r.read()
	return r
}

func (r *raw) write(text string) {
	if _, err := io.WriteString(r.in, text); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) frame(body string) {
	r.write(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

// read takes the next frame that has an id or an error, passing notifications.
func (r *raw) read() object {
	r.t.Helper()
	for {
		length := 0
		for {
			line, err := r.out.ReadString('\n')
			if err != nil {
				r.t.Fatalf("the sidecar said no more: %v", err)
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(value)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r.out, body); err != nil {
			r.t.Fatal(err)
		}
		var message object
		if err := json.Unmarshal(body, &message); err != nil {
			r.t.Fatalf("stdout carried something other than a frame: %q", body)
		}
		if message["method"] == nil {
			return message
		}
	}
}

func (r *raw) alive() {
	r.t.Helper()
	r.frame(`{"jsonrpc":"2.0","id":99,"method":"tools/list","params":{}}`)
	if m := r.read(); m["id"] != float64(99) || m["result"] == nil {
		r.t.Errorf("afterwards tools/list gave %v", m)
	}
}

func TestBrokenMessagesAreAnsweredAndPassedOver(t *testing.T) {
	t.Parallel()
	r := spawnRaw(t)
	for name, c := range map[string]struct {
		body string
		code float64
	}{
		"no JSON":        {`{"jsonrpc":`, -32700},
		"not an object":  {`[1]`, -32600},
		"a number":       {`42`, -32600},
		"no version":     {`{"id":7,"method":"tools/list"}`, -32600},
		"deep nesting":   {`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, -32600},
		"unknown method": {`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, -32601},
		"no tool name":   {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`, -32602},
		"params a text":  {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["x"]}`, -32602},
	} {
		r.frame(c.body)
		fault, _ := r.read()["error"].(object)
		if fault["code"] != c.code {
			t.Errorf("%s: got %v, want code %v", name, fault, c.code)
		}
		r.alive()
	}
}

func TestAFrameOverTheLimitIsPassedOver(t *testing.T) {
	t.Parallel()
	r := spawnRaw(t)
	const size = 33 << 20
	r.write(fmt.Sprintf("Content-Length: %d\r\n\r\n", size))
	block := strings.Repeat("x", 1<<20)
	for range size / len(block) {
		r.write(block)
	}
	m := r.read()
	fault, _ := m["error"].(object)
	if fault["code"] != float64(-32600) || m["id"] != nil {
		t.Errorf("got %v, want code -32600 without an id", m)
	}
	r.alive()
}

// TestALargeHeaderBlockEndsNothing: it is answered before all of it has come, and what follows
// is answered as well.
func TestALargeHeaderBlockEndsNothing(t *testing.T) {
	t.Parallel()
	r := spawnRaw(t)
	lines := strings.Repeat("X: y\r\n", 64_000)
	io.WriteString(r.in, lines) //nolint:errcheck // what it answers says more
	if fault, _ := r.read()["error"].(object); fault["code"] != float64(-32700) {
		t.Errorf("got %v, want code -32700", fault)
	}
	const after = `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`
	fmt.Fprintf(r.in, "Content-Length: 2\r\n\r\n{}Content-Length: %d\r\n\r\n%s", len(after), after)
	if got := r.read(); got["id"] != float64(1) {
		t.Errorf("got %v, want the answer of what came next", got)
	}
}

func TestBrokenHeadersEndTheConnection(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"negative":  "Content-Length: -1\r\n\r\n",
		"duplicate": "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"missing":   "Content-Type: x\r\n\r\n",
		"endless":   "X-Header: " + strings.Repeat("x", 100_000), // see TestALargeHeaderBlockEndsNothing
	} {
		t.Run(name, func(t *testing.T) {
			r := spawnRaw(t)
			io.WriteString(r.in, header) //nolint:errcheck // it may have ended already
			if fault, _ := r.read()["error"].(object); fault["code"] != float64(-32700) {
				t.Errorf("got %v, want code -32700", fault)
			}
			if rest, err := io.ReadAll(r.out); err != nil || len(rest) > 0 {
				t.Errorf("the sidecar went on: %q %v", rest, err)
			}
		})
	}
}
