package test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"pillion/agents/relay"
	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/workspace/document"
	"pillion/workspace/tracking"
)

// listenAsAgent connects as an agent would, and hears what it is told.
func listenAsAgent(t *testing.T, e *testrig.Editor) (*wire.Conn, <-chan json.RawMessage) {
	info := ask[struct{ Socket, Token string }](e, "relay/info", object{})
	stream, err := net.Dial("unix", info.Socket)
	must(t, err)
	heard := make(chan json.RawMessage, 4096)
	conn := wire.NewConn(stream, wire.Options{Handler: func(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
		if req.Method == "workspace/changed" {
			heard <- append(json.RawMessage(nil), req.Params...)
		}
		return nil, nil
	}})
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // the editor may have gone first
	hello := relay.Hello{Token: info.Token, ProtocolVersion: relay.ProtocolVersion, Agent: relay.Agent{Name: "listener"}}
	must(t, conn.Call(t.Context(), "agent/hello", hello, nil))
	return conn, heard
}

// wantChange waits until this change is told.
func wantChange(t *testing.T, from <-chan json.RawMessage, want tracking.Change) {
	t.Helper()
	deadline := time.After(testrig.Patience)
	for {
		select {
		case raw := <-from:
			var p struct{ Changes []tracking.Change }
			must(t, json.Unmarshal(raw, &p))
			if slices.Contains(p.Changes, want) {
				return
			}
			t.Logf("also told: %s", raw)
		case <-deadline:
			t.Fatalf("%+v was not told", want)
		}
	}
}

// TestEverybodyHearsWhoChangedAFile: the editor and the agents that listen.
func TestEverybodyHearsWhoChangedAFile(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"mode": "auto_edit"}})
	agent, heard := listenAsAgent(t, e)
	var state struct {
		Degraded bool
		Watched  int
	}
	if raw := testrig.Wait(t, e.Tracking, "workspace/tracking"); json.Unmarshal(raw, &state) != nil || state.Degraded || state.Watched == 0 {
		t.Fatalf("got %s", raw)
	}
	e.Write("a.txt", "one\n")
	wantChange(t, e.Files, tracking.Change{Path: "a.txt", Type: "created", By: "outside"})
	wantChange(t, heard, tracking.Change{Path: "a.txt", Type: "created", By: "outside"})

	must(t, agent.Call(t.Context(), "tools/call", object{"name": "write_file", "arguments": object{"path": "a.txt", "content": "two\n"}}, nil))
	mine := "agent:" + sessionOf(e, "listener").SessionID
	wantChange(t, e.Files, tracking.Change{Path: "a.txt", Type: "changed", By: mine})
	wantChange(t, heard, tracking.Change{Path: "a.txt", Type: "changed", By: mine})

	e.Open("a.txt")
	e.Type("a.txt", document.Range{}, "typed ")
	e.Save("a.txt")
	wantChange(t, e.Files, tracking.Change{Path: "a.txt", Type: "changed", By: "editor"})
	wantChange(t, heard, tracking.Change{Path: "a.txt", Type: "changed", By: "editor"})

	// Through the editor's buffer it is the agent's change all the same.
	must(t, agent.Call(t.Context(), "tools/call", object{"name": "edit_file", "arguments": object{"path": "a.txt", "old_string": "typed", "new_string": "edited"}}, nil))
	wantChange(t, e.Files, tracking.Change{Path: "a.txt", Type: "changed", By: mine})
}

// TestAFolderThatIsMadeAgain is worked in again, and watched again.
func TestAFolderThatIsMadeAgain(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	testrig.Wait(t, e.Tracking, "workspace/tracking")
	must(t, os.RemoveAll(e.Dir))
	check.Has(t, "the state", string(testrig.Wait(t, e.Tracking, "that it is gone")), `"degraded":true`)
	must(t, os.Mkdir(e.Dir, 0o755))
	check.Has(t, "the state", string(testrig.Wait(t, e.Tracking, "that it is back")), `"degraded":false`)
	e.Write("new.txt", "new\n")
	wantChange(t, e.Files, tracking.Change{Path: "new.txt", Type: "created", By: "outside"})
	e.Call("read_file", object{"path": "new.txt"}).Want(t, "")
}
