package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/agents/relay"
	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/rpc"
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

// searched are the paths of the hits, and how many files were looked into.
func searched(t *testing.T, e *testrig.Editor, query string) (paths string, files int) {
	t.Helper()
	var r struct {
		StructuredContent struct {
			Matches       []struct{ Path string }
			FilesSearched int `json:"files_searched"`
		}
	}
	e.Must("tools/call", object{"name": "search_in_project", "arguments": object{"query": query}}, &r)
	found := r.StructuredContent
	var all []string
	for _, m := range found.Matches {
		all = append(all, m.Path)
	}
	return strings.Join(all, " "), found.FilesSearched
}

// TestALargeProjectIsIndexed: the first search has an index made, and says how far it is.
// What is on disk and in the editor counts then as before.
func TestALargeProjectIsIndexed(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	const files = 24
	for i := range files {
		e.Write(fmt.Sprintf("d%d/f%d.txt", i%4, i), strings.Repeat(fmt.Sprintf("line of file number%d,\n", i), 45_000))
	}
	testrig.Wait(t, e.Tracking, "workspace/tracking")
	if paths, n := searched(t, e, "nothing like it"); paths != "" || n != files {
		t.Errorf("before the index: %q in %d files", paths, n)
	}
	var last rpc.Index
	for began := false; last.Building || !began; began = true {
		raw := testrig.Wait(t, e.Index, "workspace/index")
		before := last.Percent
		if last = (rpc.Index{}); json.Unmarshal(raw, &last) != nil || last.Percent < before || !began && !last.Building {
			t.Fatalf("after %d percent %s", before, raw)
		}
	}
	if last.Files != files || last.Bytes == 0 || last.Bytes > 3<<20 {
		t.Errorf("at last %+v", last)
	}
	for round := range 20 {
		mark := fmt.Sprintf("mark%d of this round", round)
		e.Write("d1/new.txt", mark+" on disk")
		must(t, os.Rename(e.Dir+"/d1/new.txt", e.Dir+"/d2/moved.txt"))
		if paths, n := searched(t, e, mark); paths != "d2/moved.txt" || n != files+1 {
			t.Fatalf("round %d: %q in %d files", round, paths, n)
		}
	}
	e.Open("d3/f3.txt")
	e.Type("d3/f3.txt", document.Range{}, "typed, not saved ")
	if paths, n := searched(t, e, "typed, not saved"); paths != "d3/f3.txt" || n != files+1 {
		t.Errorf("%q in %d files", paths, n)
	}
}
