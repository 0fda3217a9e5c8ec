package test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

// unusualTold is session/unusual as an editor reads it.
type unusualTold struct {
	SessionID string
	Agent     struct{ Name, Via string }
	Kind      string
	Message   string
	Acted     string
}

// paused says whether the agent's next call is refused because it is paused.
func paused(t *testing.T, agent *wire.Conn) bool {
	t.Helper()
	var result json.RawMessage
	must(t, agent.Call(t.Context(), "tools/call", object{"name": "read_file", "arguments": object{"path": "a.txt"}}, &result))
	return strings.Contains(string(result), "this session is paused")
}

func escapes(t *testing.T, agent *wire.Conn) {
	for i := range 5 {
		params := object{"name": "read_file", "arguments": object{"path": fmt.Sprintf("../secret%d", i)}}
		must(t, agent.Call(t.Context(), "tools/call", params, nil))
	}
}

// TestWhatIsUnusualIsTold, and the user stops it.
func TestWhatIsUnusualIsTold(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"mode": "auto_edit"}})
	e.Write("a.txt", "a")
	agent, _ := listenAsAgent(t, e)
	escapes(t, agent)
	u := heard[unusualTold](t, e.Unusual, "session/unusual")
	if u.Kind != "escape" || u.Agent.Name != "listener" || u.Agent.Via != "mcp" || u.Acted != "" || !strings.Contains(u.Message, "../secret4") {
		t.Errorf("got %+v", u)
	}
	if paused(t, agent) {
		t.Error("it is paused, and nobody wanted that")
	}
	running := make(chan error, 1)
	var result json.RawMessage
	go func() {
		running <- agent.Call(t.Context(), "tools/call", object{"name": "write_file", "arguments": object{"path": ".envrc", "content": "x"}}, &result)
	}()
	testrig.Wait(t, e.Approvals, "a dialog") // of a call that waits
	var session struct {
		Paused      bool
		PauseReason string
	}
	e.Must("session/pause", object{"sessionId": u.SessionID, "reason": "what is this?"}, &session)
	if !session.Paused || session.PauseReason != "what is this?" {
		t.Errorf("got %+v", session)
	}
	if err := testrig.Wait(t, running, "the end of the call that waited"); err != nil || !strings.Contains(string(result), "CANCELLED") {
		t.Errorf("%v, %s", err, result)
	}
	if !paused(t, agent) {
		t.Error("it is not paused")
	}
	e.Must("session/newTurn", object{"sessionId": u.SessionID}, nil)
	if paused(t, agent) {
		t.Error("it is still paused")
	}
	e.Refuses("session/pause", object{"sessionId": "nobody"}, wire.CodeInvalidParams) // a session that is not open
}

// TestWhatIsUnusualIsStopped where the user set it so: also what was changed is put
// back.
func TestWhatIsUnusualIsStopped(t *testing.T) {
	t.Parallel()
	for _, does := range []string{"pause", "revert"} {
		e := spawn(t, testrig.Options{Settings: object{"mode": "auto_edit", "unusual": does}})
		e.Write("a.txt", "a")
		for i := range 30 {
			e.Write(fmt.Sprintf("old/%d", i), "text\n")
		}
		agent, _ := listenAsAgent(t, e)
		must(t, agent.Call(t.Context(), "tools/call", object{"name": "delete_file", "arguments": object{"path": "old", "recursive": true}}, nil))
		u := heard[unusualTold](t, e.Unusual, "session/unusual")
		if want := map[string]string{"pause": "paused", "revert": "reverted"}[does]; u.Kind != "mass_deletion" || u.Acted != want {
			t.Errorf("%s: %+v", does, u)
		}
		if !paused(t, agent) {
			t.Errorf("%s: it is not paused", does)
		}
		left, err := os.ReadDir(e.Dir + "/old")
		if is := err == nil && len(left) == 30; is != (does == "revert") {
			t.Errorf("%s: %d files are there, %v", does, len(left), err)
		}
	}
}

// TestOrdinaryWorkIsNotUnusual: a session with the mistakes that agents make.
func TestOrdinaryWorkIsNotUnusual(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"mode": "auto_edit"}})
	e.Write("a.txt", "a")
	agent, _ := listenAsAgent(t, e)
	calls := []object{{"name": "read_file", "arguments": object{"path": "../elsewhere"}}, {"name": "no_such", "arguments": object{}}}
	for i := range 20 {
		name := fmt.Sprintf("f%d.txt", i)
		calls = append(calls, object{"name": "write_file", "arguments": object{"path": name, "content": "text\n"}},
			object{"name": "edit_file", "arguments": object{"path": name, "old_string": "no such", "new_string": "x"}},
			object{"name": "delete_file", "arguments": object{"path": name}})
	}
	for _, call := range slices.Concat(calls, calls[:1]) {
		must(t, agent.Call(t.Context(), "tools/call", call, nil))
	}
	check.Nothing(t, "told", e.Unusual)
}

func TestAPlainEditorIsToldOfWhatIsUnusual(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true, Commands: true})
	for i := range 5 {
		e.Call("read_file", object{"path": fmt.Sprintf("../secret%d", i)})
	}
	check.Has(t, "the message", testrig.Wait(t, e.Messages, "the message"), "to access what agents must not", "pillion.pause")
	if session, err := e.Execute("pillion.pause"); err != nil || session["paused"] != true {
		t.Errorf("%v, %v", session, err)
	}
}
