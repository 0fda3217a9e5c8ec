package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/agents/relay"
	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/tools/session"
)

// again starts the sidecar anew on the same folders, for the same user.
func again(t *testing.T, e *testrig.Editor, o testrig.Options) *testrig.Editor {
	t.Helper()
	o.Home = e.Home
	if o.Dirs == nil {
		o.Dirs = []string{e.Dir}
	}
	return spawn(t, o)
}

// ends are the ways in which a sidecar ends.
var ends = map[string]func(t *testing.T, e *testrig.Editor){
	"properly": func(_ *testing.T, e *testrig.Editor) { e.Stop() },
	"killed": func(t *testing.T, e *testrig.Editor) {
		// What is a second old is kept, however the program ends.
		eventually(t, "it", func() bool { return strings.Contains(recordsText(e), `"calls":4`) })
		must(t, e.Command.Process.Kill())
		e.Stop()
	},
}

func keptIn(home string) string { return filepath.Join(home, ".local", "state", "pillion", "sessions") }

func records(e *testrig.Editor) []string {
	names, _ := filepath.Glob(filepath.Join(keptIn(e.Home), "*.json"))
	return names
}

func recordsText(e *testrig.Editor) string {
	var out strings.Builder
	for _, name := range records(e) {
		text, _ := os.ReadFile(name)
		out.Write(text)
	}
	return out.String()
}

// TestASessionComesBack: what the user and the agent made of a session is there after a
// restart, for the same agent on the same folders alone.
func TestASessionComesBack(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := spawnWithApp(t, testrig.Options{})
			before := busy(t, e, "p")
			end(t, e)

			e = again(t, e, testrig.Options{})
			if all := sessions(e); len(all) != 1 || all[0].Connected || all[0].list() != before.list() {
				t.Errorf("kept: %+v", all)
			}
			if s := openAs(e, "p", "stranger"); s.Todos == nil || len(s.Todos)+len(s.Grants)+s.Calls != 0 || s.Mode != "default" {
				t.Errorf("another agent gets %+v", s)
			}
			e.Must("session/close", object{"sessionId": "p"}, nil)
			after := openAs(e, "p", "planner")
			after.LastCall = before.LastCall
			if fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("comes back as %+v\nwas %+v", after, before)
			}
			callAs(e, "p", "write_file", object{"path": "x.txt", "content": "2"}).Want(t, "POLICY_DENIED") // in plan mode
			if r := callAs(e, "p", "todo_read", object{}); fmt.Sprint(r.StructuredContent["todos_changed"]) != "<nil>" || fmt.Sprint(r.StructuredContent["count"]) != "2" {
				t.Errorf("the to-do list: %v", r.StructuredContent)
			}
			end2 := again(t, e, testrig.Options{Dirs: []string{t.TempDir()}})
			if s := openAs(end2, "p", "planner"); s.Calls != 0 || len(s.Todos) != 0 {
				t.Errorf("in another folder: %+v", s)
			}
		})
	}
}

// busy is a session with all that is kept: to-dos that the user ticked, a rule, a mode, and
// four calls.
func busy(t *testing.T, e *testrig.Editor, id string) (s sessionInfo) {
	t.Helper()
	openAs(e, id, "planner")
	callAs(e, id, "todo_write", object{"todos": []object{item("1", "look", "in_progress"), item("2", "write", "pending")}})
	e.Must("session/todos", object{"sessionId": id, "revision": 1, "todos": []object{item("2", "write", "pending"), item("1", "look", "completed")}}, nil)
	callAs(e, id, "todo_read", object{})
	writeRemembered(t, e, id)
	e.Must("session/setMode", object{"sessionId": id, "mode": "plan"}, nil)
	callAs(e, id, "write_file", object{"path": "y.txt", "content": ""})
	return openAs(e, id, "planner")
}

// writeRemembered writes a file, and the user remembers the rule for the session.
func writeRemembered(t *testing.T, e *testrig.Editor, id string) {
	t.Helper()
	done := startAs(e, id, "write_file", object{"path": "x.txt", "content": "1"})
	a := testrig.Wait(t, e.Approvals, "the dialog")
	if r := answered(t, a, done, object{"decision": "approve", "decisionId": sessionChoice(a)["id"]}); r.IsError {
		t.Fatal(r.StructuredContent)
	}
}

// TestWhatTheUserChangedIsToldAfterARestart: the agent hears of it all the same.
func TestWhatTheUserChangedIsToldAfterARestart(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	openAs(e, "p", "planner")
	callAs(e, "p", "todo_write", object{"todos": []object{item("1", "look", "pending")}})
	e.Must("session/todos", object{"sessionId": "p", "revision": 1, "todos": []object{item("1", "look", "completed")}}, nil)
	e.Stop()
	e = again(t, e, testrig.Options{})
	openAs(e, "p", "planner")
	check.Same(t, "the agent hears", fmt.Sprint(callAs(e, "p", "todo_read", object{}).StructuredContent["todos_changed"]), `[ticked "look"]`)
}

// TestAKeptModeIsNeverLooser than the settings are now.
func TestAKeptModeIsNeverLooser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, chosen, now, want string }{
		{"default", "auto_edit", "default", "auto_edit"},
		{"default", "auto_edit", "plan", "plan"},
		{"auto_edit", "", "default", "default"},
		{"auto_edit", "", "auto_edit", "auto_edit"},
		{"plan", "", "auto_edit", "plan"},
		{"default", "plan", "auto_edit", "plan"},
		{"default", "full_access", "default", "default"},
		{"default", "full_access", "plan", "plan"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			e := spawn(t, testrig.Options{Settings: object{"mode": c.was}})
			openAs(e, "p", "planner")
			callAs(e, "p", "todo_read", object{})
			if c.chosen != "" {
				e.Must("session/setMode", object{"sessionId": "p", "mode": c.chosen}, nil)
			}
			e.Stop()
			e = again(t, e, testrig.Options{Settings: object{"mode": c.now}})
			if s := openAs(e, "p", "planner"); s.Mode != c.want || s.Calls != 1 {
				t.Errorf("mode %s, %d calls", s.Mode, s.Calls)
			}
		})
	}
}

// TestAPauseIsNotEscaped by a restart.
func TestAPauseIsNotEscaped(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	openAs(e, "p", "planner")
	e.Must("session/pause", object{"sessionId": "p", "reason": "enough"}, nil)
	e.Stop()
	e = again(t, e, testrig.Options{})
	if s := openAs(e, "p", "planner"); !s.Paused || s.PauseReason != "enough" {
		t.Errorf("after the restart: %+v", s)
	}
}

// TestAKeptSessionIsTheUsers: they change and end it while its agent is away.
func TestAKeptSessionIsTheUsers(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	busy(t, e, "p")
	e.Stop()
	e = again(t, e, testrig.Options{})
	var s sessionInfo
	e.Must("session/revoke", object{"sessionId": "p", "rule": "write_file(x.txt)"}, &s)
	if s.Connected || len(s.Grants) != 0 || s.Mode != "plan" {
		t.Errorf("without its agent: %+v", s)
	}
	e.Stop()
	e = again(t, e, testrig.Options{})
	if s := openAs(e, "p", "planner"); len(s.Grants) != 0 || len(s.Todos) != 2 || !s.Connected {
		t.Errorf("the agent comes back to %+v", s)
	}
	e.Stop()
	e = again(t, e, testrig.Options{})
	if !ask[struct{ Closed bool }](e, "session/close", object{"sessionId": "p"}).Closed {
		t.Error("it was not ended")
	}
	if left := records(e); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if s := openAs(e, "p", "planner"); s.Calls != 0 || len(s.Todos) != 0 {
		t.Errorf("after the end: %+v", s)
	}
}

// dialAs connects as an agent does.
func dialAs(t *testing.T, e *testrig.Editor, agent, cwd string, had session.Proof) *relay.Client {
	t.Helper()
	at := ask[struct{ Socket, Token string }](e, "relay/info", object{})
	ctx, cancel := context.WithTimeout(t.Context(), testrig.Patience)
	defer cancel()
	c, err := relay.Dial(ctx, relay.Entry{Socket: at.Socket, Token: at.Token}, relay.Hello{Agent: relay.Agent{Name: agent}, Cwd: cwd, Session: &had})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func todosBy(t *testing.T, c *relay.Client, tool string, arguments object) string {
	t.Helper()
	text, err := json.Marshal(arguments)
	must(t, err)
	r, err := c.Call(t.Context(), relay.Call{Name: tool, Arguments: text}, nil)
	must(t, err)
	return string(bytes.Join(r, nil))
}

// TestAnAgentComesBack by the id and the secret that it was given, and nobody else does.
func TestAnAgentComesBack(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	first := dialAs(t, e, "Codex", e.Dir, session.Proof{})
	own := first.Session()
	if own.ID == "" || len(own.Secret) < 26 {
		t.Fatalf("given: %+v", own)
	}
	todosBy(t, first, "todo_write", object{"todos": []object{item("1", "hush", "pending")}})
	stranger := func(what string, c *relay.Client) {
		t.Helper()
		if now := c.Session(); now.ID == own.ID || now.Secret == own.Secret || now.Secret == "" {
			t.Errorf("%s: got %+v", what, now)
		}
		check.Lacks(t, "what "+what+" reads", todosBy(t, c, "todo_read", object{}), "hush")
	}
	stranger("twice at once", dialAs(t, e, "Codex", e.Dir, own))
	strangers := func() {
		t.Helper()
		stranger("another agent", dialAs(t, e, "Claude", e.Dir, own))
		stranger("another folder", dialAs(t, e, "Codex", filepath.Dir(e.Dir), own))
		stranger("a wrong secret", dialAs(t, e, "Codex", e.Dir, session.Proof{ID: own.ID, Secret: "x" + own.Secret[1:]}))
		stranger("no secret", dialAs(t, e, "Codex", e.Dir, session.Proof{ID: own.ID}))
		stranger("a path for an id", dialAs(t, e, "Codex", e.Dir, session.Proof{ID: "../" + own.ID, Secret: own.Secret}))
		stranger("the editor's own", dialAs(t, e, "fake editor", e.Dir, session.Proof{ID: "editor"}))
	}
	strangers()
	first.Close()
	eventually(t, "it", func() bool {
		return slices.ContainsFunc(sessions(e), func(s sessionInfo) bool { return s.SessionID == own.ID && !s.Connected })
	})
	strangers()
	e.Stop()
	e = again(t, e, testrig.Options{})
	strangers()
	back := dialAs(t, e, "Codex", e.Dir, own)
	check.Same(t, "comes back as", back.Session(), own)
	check.Has(t, "the list", todosBy(t, back, "todo_read", object{}), "hush")
	// The secret is nowhere but with its agent.
	err := filepath.WalkDir(e.Home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(path); strings.Contains(string(text), own.Secret) {
				t.Errorf("the secret is in %s", path)
			}
			if info, _ := d.Info(); info != nil && strings.HasPrefix(path, keptIn(e.Home)) && info.Mode().Perm() != 0o600 {
				t.Errorf("%s is %v", path, info.Mode())
			}
		}
		return nil
	})
	must(t, err)
	// The user ends it: the connection ends, and nothing comes back.
	e.Must("session/close", object{"sessionId": own.ID}, nil)
	testrig.Wait(t, back.Done(), "the end of the connection")
	stranger("after the end", dialAs(t, e, "Codex", e.Dir, own))
}

// TestABadRecordIsNone: nothing is read of a file that is not what it should be, and
// nothing of it is lost that is not ours.
func TestABadRecordIsNone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, path string){
		"cut":   func(t *testing.T, path string) { must(t, os.Truncate(path, 100)) },
		"empty": func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"huge":  func(t *testing.T, path string) { must(t, os.Truncate(path, 1<<30)) },
		"a link": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".there"))
			must(t, os.Symlink(path+".there", path))
		},
		"a folder": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		},
		"a pipe": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, exec.Command("mkfifo", path).Run())
		},
		"another's": func(t *testing.T, path string) {
			if os.Getuid() == 0 { // nobody else gives files away
				must(t, os.Chown(path, 1, 1))
			} else {
				must(t, os.Remove(path))
			}
		},
		"of another agent": func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"name":"planner"`, `"name":"stranger"`)), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := spawnWithApp(t, testrig.Options{})
			busy(t, e, "p")
			e.Stop()
			spoil(t, records(e)[0])
			e = again(t, e, testrig.Options{})
			for _, agent := range []string{"planner", "stranger"} {
				if s := openAs(e, "p", agent); s.Calls != 0 || len(s.Todos) != 0 || s.Mode != "default" || !s.Connected {
					t.Errorf("%s gets %+v", agent, s)
				}
				callAs(e, "p", "todo_read", object{})
				e.Must("session/close", object{"sessionId": "p"}, nil)
			}
		})
	}
}

// TestAGatewaysSessionComesBack: its id is the session's, and its conversation has the files
// that it was given.
func TestAGatewaysSessionComesBack(t *testing.T) {
	t.Parallel()
	e, g, c := atGateway(t, testrig.Options{})
	e.Write("notes.txt", "one\n")
	e.Must("context/update", object{"action": "add_file", "data": object{"path": "notes.txt"}}, nil)
	c.Next()
	c.Call("t1", "todo_write", object{"todos": []object{item("1", "remember", "pending")}})
	c.Next()
	e.Stop()
	for _, id := range []string{"two", "one"} {
		e = again(t, e, testrig.Options{})
		e.Must("gateway/connect", object{"url": g.URL, "token": "s3cret", "sessionId": id}, nil)
		c = g.Accept()
		context := ask[struct{ Context []struct{ Path string } }](e, "context/list", object{})
		c.Call("t1", "todo_read", object{})
		if has := fmt.Sprint(c.Next().Object("result")["count"], len(context.Context)); has != map[string]string{"one": "1 1", "two": "0 0"}[id] {
			t.Errorf("%s has to-dos and context: %s", id, has)
		}
		if id == "two" {
			e.Stop()
		}
	}
	e.Must("session/close", object{"sessionId": "one"}, nil)
	_ = c.Ended()
	eventually(t, "the gateway is disconnected", func() bool { return gatewayNow(e).State == "disconnected" })
	e.Must("gateway/connect", object{"url": g.URL, "token": "s3cret", "sessionId": "one"}, nil)
	c = g.Accept()
	c.Call("t2", "todo_read", object{})
	check.Same(t, "after the end", fmt.Sprint(c.Next().Object("result")["count"]), "0")
}

// TestTheEditorsOwnSessionComesBack: with its rules for whoever names it alone.
func TestTheEditorsOwnSessionComesBack(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	writeRemembered(t, e, "editor")
	e.Must("session/setMode", object{"mode": "default"}, nil)
	callAs(e, "", "todo_write", object{"todos": []object{item("1", "remember", "pending")}})
	e.Stop()
	for _, named := range []bool{true, false} {
		e = again(t, e, testrig.Options{})
		if named {
			openAs(e, "editor", "fake editor")
		}
		if r := callAs(e, "", "todo_read", object{}); fmt.Sprint(r.StructuredContent["count"]) != "1" {
			t.Errorf("named %v: %v", named, r.StructuredContent)
		}
		if s := openAs(e, "editor", "fake editor"); (len(s.Grants) == 1) != named {
			t.Errorf("named %v: rules %v", named, s.Grants)
		}
		e.Stop()
	}
}
