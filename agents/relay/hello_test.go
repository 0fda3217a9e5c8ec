package relay

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/tools/session"
)

// waitUntil polls for something that has no event.
func waitUntil(t testing.TB, what string, isSo func() bool) {
	t.Helper()
	deadline := time.Now().Add(agenttest.Patience)
	for !isSo() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestHelloComesFirst(t *testing.T) {
	_, s := opened(t, nil)
	c := raw(t, s)
	for _, method := range []string{methodList, methodCall, "session/open", "nonsense"} {
		wantCode(t, c.Call(t.Context(), method, struct{}{}, nil), wire.CodeServerNotInitialized)
	}
	if err := c.Call(t.Context(), methodHello, Hello{Token: s.entry.Token, ProtocolVersion: 1}, nil); err != nil {
		t.Fatalf("after them, agent/hello: %v", err)
	}
	wantCode(t, c.Call(t.Context(), methodHello, Hello{Token: s.entry.Token, ProtocolVersion: 1}, nil), wire.CodeInvalidRequest)
	if err := c.Call(t.Context(), methodList, nil, nil); err != nil {
		t.Errorf("tools/list without params: %v", err)
	}
}

// keepsNothing has sessions proven, and keeps none.
type keepsNothing struct{}

func (keepsNothing) Hold(session.Owner, bool) session.Slot { return nil }
func (keepsNothing) List() []session.Kept                  { return nil }
func (keepsNothing) Forget(session.Owner) bool             { return false }

func TestAPromptIsOfTheSessionThatIsProven(t *testing.T) {
	p := agenttest.NewProject(t, nil)
	p.Sessions.Keep(keepsNothing{})
	registry(t)
	s := listen(t, p)
	one, other := dial(t, s.entry), dial(t, s.entry)
	proof := one.Session()
	stranger := s.entry
	stranger.Token += "x"
	for name, err := range map[string]error{
		"another's secret": Tell(t.Context(), s.entry, session.Proof{ID: proof.ID, Secret: other.Session().Secret}, "mine"),
		"no secret":        Tell(t.Context(), s.entry, session.Proof{ID: proof.ID}, "mine"),
		"no such session":  Tell(t.Context(), s.entry, session.Proof{ID: "s-none", Secret: proof.Secret}, "mine"),
		"a wrong token":    Tell(t.Context(), stranger, proof, "mine"),
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, err, wire.CodeInvalidRequest) })
	}
	must(t, Tell(t.Context(), s.entry, proof, "put the kettle on"))
	for id, want := range map[string]string{proof.ID: "put the kettle on", other.Session().ID: ""} {
		of, _ := p.Sessions.Get(id)
		check.Same(t, "the turn is named", of.Prompt(1), want)
	}
}

func TestARefusedHelloEndsTheConnection(t *testing.T) {
	p, s := opened(t, nil)
	for name, c := range map[string]struct {
		hello any
		code  int64
	}{
		"wrong token":        {Hello{Token: s.entry.Token + "x", ProtocolVersion: 1}, wire.CodeInvalidRequest},
		"no token":           {Hello{ProtocolVersion: 1}, wire.CodeInvalidRequest},
		"future protocol":    {Hello{Token: s.entry.Token, ProtocolVersion: 2}, wire.CodeInvalidParams},
		"unknown form":       {Hello{Token: s.entry.Token, ProtocolVersion: 1, Form: "yaml"}, wire.CodeInvalidParams},
		"negative page":      {Hello{Token: s.entry.Token, ProtocolVersion: 1, PageBytes: -1}, wire.CodeInvalidParams},
		"relative cwd":       {Hello{Token: s.entry.Token, ProtocolVersion: 1, Cwd: "here"}, wire.CodeInvalidParams},
		"token of a number":  {map[string]any{"token": 7}, wire.CodeInvalidParams},
		"names its session":  {map[string]any{"token": s.entry.Token, "protocolVersion": 1, "sessionId": "editor"}, wire.CodeInvalidParams},
		"nothing whatsoever": {struct{}{}, wire.CodeInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, s)
			wantCode(t, conn.Call(t.Context(), methodHello, c.hello, nil), c.code)
			agenttest.Wait(t, conn.Done(), "the end of the connection") // long before it would end anyway
		})
	}
	if open := p.Sessions.List(); len(open) != 0 {
		t.Errorf("sessions are open: %+v", open)
	}
}

// Who says nothing does not keep a connection.
func TestWhoDoesNotSayHello(t *testing.T) {
	p := agenttest.NewProject(t, nil)
	registry(t)
	s, err := Listen(Host{Registry: p.Registry, Sessions: p.Sessions, Roots: func() []string { return nil }, Logf: t.Logf, hello: time.Millisecond})
	must(t, err)
	defer s.Close() //nolint:errcheck // it is gone with the test
	agenttest.Wait(t, raw(t, s).Done(), "the end of the connection")
}

// Text alone goes over the socket where the agent wants that, in pages; a sidecar that is
// older than the form gives both, and the client leaves out what was not asked for.
func TestTheFormOfResults(t *testing.T) {
	text := strings.Repeat("a line\n", 2000)
	_, s := opened(t, map[string]string{"a.txt": text})
	read := Call{Name: "read_file", Arguments: args(t, map[string]any{"path": "a.txt"})}
	for name, c := range map[string]struct {
		hello            Hello
		whole, structure bool
	}{
		"as it was":     {Hello{}, true, true},
		"older sidecar": {Hello{}, true, false}, // which has given both
		"text alone":    {Hello{Form: FormText}, true, false},
		"pages":         {Hello{PageBytes: 1000}, false, true},
		"pages of text": {Hello{Form: FormText, PageBytes: 1000}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := Dial(t.Context(), s.entry, c.hello)
			must(t, err)
			defer client.Close() //nolint:errcheck // what matters was checked
			if name == "older sidecar" {
				client.form = FormText
			}
			got, err := client.Call(t.Context(), read, nil)
			must(t, err)
			if whole := got.Size() > len(text); whole != c.whole || strings.Contains(string(got.Bytes()), "structuredContent") != c.structure {
				t.Errorf("%d bytes: %.300s", got.Size(), got.Bytes())
			}
			check.Same(t, "the sidecar agreed to", c.hello.Form, client.welcome.Form)
		})
	}
}

// What answers an approval, names a session or changes one is the editor's.
func TestAgentsHaveNoOtherMethods(t *testing.T) {
	_, s := opened(t, nil)
	c := dial(t, s.entry)
	for _, method := range []string{
		"approval/request", "approval/resolved", "workspace/executeCommand", "session/setMode", "session/open", "session/list",
		"relay/info", "tools/approval", "initialize", "shutdown", "document/edit", "journal/revert",
		"process/list", "process/kill", "process/write", "process/output",
		"settings/trust", "settings/ignore", "rules/forget", "settings/untrusted", "session/pause", "session/newTurn", "session/unusual", "session/todos", "session/revoke", "session/close", "session/changed", "workspace/changed",
	} {
		wantCode(t, c.conn.Call(t.Context(), method, struct{}{}, nil), wire.CodeMethodNotFound)
	}
	for _, method := range []string{methodCall, methodList} {
		params := map[string]any{"name": "list_files", "arguments": struct{}{}, "sessionId": "editor"}
		wantCode(t, c.conn.Call(t.Context(), method, params, nil), wire.CodeInvalidParams)
	}
	for name, params := range map[string]any{
		"no name":      struct{}{},
		"bad timeout":  map[string]any{"name": "list_files", "timeoutSeconds": 1e9},
		"an array":     []int{1},
		"name of type": map[string]any{"name": 1},
	} {
		if err := c.conn.Call(t.Context(), methodCall, params, nil); err == nil {
			t.Errorf("%s is accepted", name)
		} else {
			wantCode(t, err, wire.CodeInvalidParams)
		}
	}
	// A value that only looks like one is no session.
	if _, err := c.Call(t.Context(), Call{Name: "list_files", Arguments: args(t, map[string]any{"sessionId": "editor"})}, nil); err != nil {
		t.Errorf("sessionId as a tool's own argument: %v", err)
	}
}

func TestLabel(t *testing.T) {
	for given, want := range map[string]string{
		"claude-code": "claude-code", "": "agent", " \n\t": "agent", "a\nb": "a b", "a\u202eb": `a\u202eb`, "\xff": `\ufffd`,
		strings.Repeat("x", 200): strings.Repeat("x", 80) + "…",
	} {
		if got := label(given, "agent"); got != want {
			t.Errorf("label(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	_, s := opened(t, nil)
	for range maxConnections {
		c := dial(t, s.entry)
		if _, err := c.Call(t.Context(), Call{Name: "todo_read"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), agenttest.Patience)
	defer cancel()
	if c, err := Dial(ctx, s.entry, Hello{}); err == nil {
		c.Close()
		t.Fatal("one more is let in")
	}
}

// TestIdleConnectionsLockNobodyOut: those that call nothing give way, the quietest first.
func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	_, s := opened(t, nil)
	working := dial(t, s.entry)
	call := func(c *Client) {
		t.Helper()
		if _, err := c.Call(t.Context(), Call{Name: "todo_read"}, nil); err != nil {
			t.Error(err)
		}
	}
	call(working)
	var idle []*Client
	for range maxConnections - 1 {
		idle = append(idle, dial(t, s.entry))
	}
	if _, err := idle[0].Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		call(dial(t, s.entry))
	}
	for _, c := range idle[1:4] {
		select {
		case <-c.Done():
		case <-time.After(agenttest.Patience):
			t.Error("an idle connection stays")
		}
	}
	call(idle[0])
	call(working)
}

func TestTheSocketIsPrivate(t *testing.T) {
	folder := registry(t)
	must(t, os.Chmod(folder, 0o755))
	s := listen(t, agenttest.NewProject(t, nil))
	for path, want := range map[string]os.FileMode{
		folder: 0o700, s.entry.Socket: 0o600, entryPath(folder, s.id): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v; %v", path, info.Mode().Perm(), want, err)
		}
	}
	conn, err := net.Dial("unix", s.entry.Socket)
	must(t, err)
	defer conn.Close()
	if err := checkPeer(conn.(*net.UnixConn)); err != nil {
		t.Errorf("this very user is refused: %v", err)
	}
}
