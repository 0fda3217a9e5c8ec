package test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// tasked is an editor with sub-agents: "sub" speaks ACP and is one of runSubAgent, the
// others are commands.
func tasked(t *testing.T, settings object) *testrig.Editor {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	agent := func(kind string, more object) object {
		r := object{"acp": []string{exe}, "env": object{subAgentVariable: kind}}
		for key, value := range more {
			r[key] = value
		}
		return r
	}
	set := object{
		"sandbox": "off",
		"task": object{"runners": object{
			"sub": agent("plain", nil), "locked": agent("locked", nil), "reader": agent("plain", object{"mode": "plan"}),
			"short": agent("plain", object{"timeoutSeconds": 1}), "longer": agent("plain", object{"timeoutSeconds": 5}), "longest": agent("plain", object{"timeoutSeconds": 25}),
			"gone": object{"acp": []string{"no-such-program"}},
			"echo": object{"command": []string{"printf", "did: %s", "{objective}"}},
			"cat":  object{"command": []string{"cat"}},
			"fail": object{"command": []string{"sh", "-c", "echo half; echo why >&2; exit 3"}},
		}},
		"permissions": object{"allow": []string{"task"}},
	}
	for key, value := range settings {
		set[key] = value
	}
	e := spawn(t, testrig.Options{Settings: set})
	e.Write("tea.txt", "green\n")
	return e
}

func task(agent string, lines ...string) object {
	return object{"agent": agent, "objective": strings.Join(lines, "\n")}
}

const child = "sub, for fake editor"

// TestTaskByACommand: the objective is one argument or the standard input, never a shell's.
func TestTaskByACommand(t *testing.T) {
	t.Parallel()
	e := tasked(t, nil)
	for agent, want := range map[string]string{"echo": "did: $(id); x", "cat": "$(id); x"} {
		s := e.Call("task", task(agent, "$(id); x")).StructuredContent
		if s["ok"] != true || s["agent"] != agent || s["summary"] != want {
			t.Errorf("%s: %v", agent, s)
		}
	}
	r := e.Call("task", task("fail", "x"))
	if s := r.StructuredContent; r.Code() != "EXECUTION_FAILED" || s["summary"] != "half" || s["exit_code"] != 3.0 || !strings.Contains(r.Text(), "why") {
		t.Errorf("a command that fails: %v", r)
	}
	e.Call("task", task("echo", "--version")).Want(t, "INVALID_ARGUMENTS")              // an objective that would be an option
	e.Call("task", task("nobody", "x")).Want(t, "INVALID_ARGUMENTS", "cat, echo, fail") // an agent that nobody configured
	e.Call("task", task("gone", "x")).Want(t, "EXECUTION_FAILED", "no-such-program")    // a program that is not there
}

// TestTheDialogOfATask shows all that the user judges by; a rule names the agent.
func TestTheDialogOfATask(t *testing.T) {
	t.Parallel()
	e := tasked(t, object{"permissions": object{"allow": []string{"task(echo)"}}})
	e.Call("task", task("echo", "x")).Want(t, "") // a rule allows it
	a, done := e.Ask("task", task("sub", "say first", "say second"))
	preview, _ := a.Params["preview"].(object)
	shown := map[string]string{}
	facts, _ := preview["facts"].([]any)
	for _, f := range facts {
		f := f.(object)
		shown[f["code"].(string)] = strings.TrimSpace(f["text"].(string) + " " + join(f["items"]))
	}
	for code, want := range map[string]string{"objective": "say first say second", "mode": "default", "command": "test", "environment": subAgentVariable, "sandbox": "none"} {
		check.Has(t, code, shown[code], want)
	}
	decisions := a.Params["decisions"].([]any)
	if rule := decisions[len(decisions)-1].(object)["rule"]; rule != "task(sub)" {
		t.Errorf("the rule on offer is %v", rule)
	}
	answered(t, a, done, object{"decision": "reject", "feedback": "do it yourself"}).Want(t, "USER_REJECTED")
	e.Must("session/setMode", object{"sessionId": "editor", "mode": "plan"}, nil)
	e.Call("task", task("echo", "x")).Want(t, "POLICY_DENIED") // in plan mode
}

func join(items any) string {
	var out []string
	list, _ := items.([]any)
	for _, item := range list {
		out = append(out, item.(string))
	}
	return strings.Join(out, " ")
}

// TestASubAgentGoesThroughTheDoor: what it reads, writes and runs is asked as any agent's
// calls are, in a session that shows whose child it is; its last message is the summary.
func TestASubAgentGoesThroughTheDoor(t *testing.T) {
	t.Parallel()
	e := tasked(t, nil)
	e.Open("tea.txt")
	done := e.Start("task", task("sub", "say I look", "act Read tea.txt", "read "+filepath.Join(e.Dir, "tea.txt"),
		"act Write", "write tea.txt black", "act Run", "run echo $((6*7))", "permit execute make -j", "permit fetch x"))
	answer := func(tool, decision string) {
		a := testrig.Wait(t, e.Approvals, "the dialog of "+tool)
		who, _ := a.Params["agent"].(object)
		if a.Text("tool") != tool || who["name"] != child || who["via"] != "task" {
			t.Errorf("asked: %s by %v", a.Text("tool"), who)
		}
		a.Answer <- object{"decision": decision, "decisionId": decision, "digest": a.Text("digest")}
	}
	answer("write_file", "approve")
	if s := sessionOf(e, child); s.Parent != "editor" || s.Mode != "default" {
		t.Errorf("its session: %v", s)
	}
	answer("run_persistent", "approve")
	answer("task_permission", "approve")
	answer("task_permission", "reject")
	r := testrig.Wait(t, done, "the result")
	want := "42\n exit 0" + `{"outcome":{"optionId":"yes","outcome":"selected"}}` + `{"outcome":{"optionId":"no","outcome":"selected"}}`
	if got := r.StructuredContent["summary"]; r.IsError || got != want {
		t.Errorf("summary %q, want %q\n%v", got, want, r)
	}
	check.Same(t, "in the editor", e.Buffer("tea.txt").Text, "black")
	if sessionOf(e, child) != nil {
		t.Error("its session is still open")
	}
}

// TestWhatASubAgentSaysIsProgress: its words and what it says that it does stream.
func TestWhatASubAgentSaysIsProgress(t *testing.T) {
	t.Parallel()
	e := tasked(t, nil)
	var r testrig.Result
	e.Must("tools/call", object{"name": "task", "arguments": task("sub", "say I look", "act Look\taround", "read tea.txt", "say over"), "workDoneToken": "w"}, &r)
	got := ""
	for !strings.Contains(got, "over") {
		var p struct{ Value struct{ Stream, Text string } }
		must(t, json.Unmarshal(testrig.Wait(t, e.Progress, "$/progress"), &p))
		got += "<" + p.Value.Stream + ">" + p.Value.Text
	}
	check.Has(t, "progress", got, "<stdout>I look", "<stderr>· Look")
}

// TestASubAgentIsNoFreerThanItsParent, also when that is tightened meanwhile.
func TestASubAgentIsNoFreerThanItsParent(t *testing.T) {
	t.Parallel()
	e := tasked(t, object{"permissions": object{"allow": []string{"task"}, "deny": []string{"run_command(rm *)"}}})
	open := func(mode string) { e.Must("session/setMode", object{"sessionId": "editor", "mode": mode}, nil) }
	open("full_access")
	r := e.Call("task", task("sub", "write a.txt a", "permit execute rm x", "permit execute ls"))
	if e.Read("a.txt") != "a" || !strings.Contains(r.Text(), `"no"`) || !strings.Contains(r.Text(), `"yes"`) {
		t.Errorf("in full access, with a rule that denies: %v", r)
	}
	check.Has(t, "one that may only read", e.Call("task", task("reader", "write b.txt b")).Text(), "plan mode")
	done := e.Start("task", task("sub", "run touch here; until [ -e go ]; do sleep 0.05; done", "write c.txt c", "say over"))
	eventually(t, "it works", func() bool { return exists(e, "here") })
	open("plan")
	e.Write("go", "")
	if r := testrig.Wait(t, done, "the result"); !strings.Contains(r.Text(), "plan mode") || exists(e, "c.txt") {
		t.Errorf("tightened meanwhile: %v", r)
	}
}

func exists(e *testrig.Editor, name string) bool {
	_, err := os.Stat(filepath.Join(e.Dir, name))
	return err == nil
}

// leavesTwo are the lines of a sub-agent with two processes, which writes here when they run.
var leavesTwo = []string{"start echo $$ >pid1; exec sleep 1000", "spawn pid2", "say I wait", "write here x"}

// limits are the sub-agents with ever more time: on a busy machine some are over before they began.
var limits = map[string]string{"short": "1s", "longer": "5s", "longest": "25s"}

// TestASubAgentsTimeIsOver: it is stopped, and nothing of it is left.
func TestASubAgentsTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"short", "longer", "longest"} {
		e := tasked(t, object{"permissions": object{"allow": []string{"task", "run_persistent", "write_file"}}})
		r := e.Call("task", task(agent, append(slices.Clone(leavesTwo), "hang")...))
		r.Want(t, "TIMEOUT", limits[agent])
		for _, file := range []string{"pid1", "pid2"} {
			eventually(t, "its processes are gone", func() bool { return !stillThere(filepath.Join(e.Dir, file)) })
		}
		if exists(e, "here") { // it had begun
			check.Has(t, "the result", r.Text(), "I wait")
			return
		}
	}
	t.Error("none of them did anything")
}

// TestASubAgentIsStopped alone and with its parent; nothing of it is left.
func TestASubAgentIsStopped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines      string
		stop       func(e *testrig.Editor, id string)
		code, says string
	}{
		"its session is paused": {"wait", func(e *testrig.Editor, id string) {
			e.Must("session/pause", object{"sessionId": id, "reason": "enough"}, nil)
		}, "CANCELLED", "enough"},
		"its session is closed": {"hang", func(e *testrig.Editor, id string) { e.Must("session/close", object{"sessionId": id}, nil) }, "CANCELLED", "closed"},
		"its parent is paused":  {"hang", func(e *testrig.Editor, _ string) { e.Must("session/pause", object{"sessionId": "editor"}, nil) }, "CANCELLED", ""},
		"its parent is closed":  {"hang", func(e *testrig.Editor, _ string) { e.Must("session/close", object{"sessionId": "editor"}, nil) }, "CANCELLED", "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tasked(t, object{"permissions": object{"allow": []string{"task", "run_persistent", "write_file"}}})
			pids := filepath.Join(e.Dir, "pid")
			done := e.Start("task", task("sub", append(slices.Clone(leavesTwo), test.lines)...))
			eventually(t, "it works", func() bool { return exists(e, "here") && stillThere(pids+"1") && stillThere(pids+"2") })
			test.stop(e, sessionOf(e, child).SessionID)
			r := testrig.Wait(t, done, "the result")
			if r.Code() != test.code || !strings.Contains(r.Error("message"), test.says) || !strings.Contains(r.Text(), "I wait") {
				t.Errorf("result: %v", r)
			}
			for _, file := range []string{pids + "1", pids + "2"} {
				eventually(t, "its processes are gone", func() bool { return !stillThere(file) })
			}
		})
	}
}

func stillThere(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	return err == nil && alive(pid)
}

// TestTheDialogTakesNoneOfItsTime: another one that begins later, with as much time, has used
// it up when the dialog is answered.
func TestTheDialogTakesNoneOfItsTime(t *testing.T) {
	t.Parallel()
	var r testrig.Result
	for _, agent := range []string{"short", "longer", "longest"} {
		e := tasked(t, nil)
		done := e.Start("task", task(agent, "write slow.txt x", "say over"))
		select {
		case a := <-e.Approvals:
			e.Call("task", task(agent, "hang")).Want(t, "TIMEOUT")
			r = answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
		case r = <-done:
		}
		if summary, _ := r.StructuredContent["summary"].(string); !r.IsError && strings.HasSuffix(summary, "over") {
			return
		}
	}
	t.Errorf("result: %v", r)
}

// TestCancellingADialogStopsTheSubAgent and not its parent.
func TestCancellingADialogStopsTheSubAgent(t *testing.T) {
	t.Parallel()
	e := tasked(t, nil)
	asked(t, e, e.Start("task", task("sub", "write a.txt a", "write b.txt b")), object{"decision": "cancel"}).Want(t, "CANCELLED", "write_file")
	e.Call("task", task("echo", "go on")).Want(t, "") // the parent is not held up
}

// TestBadSubAgents: whatever they do, the task ends with an error or goes on without it.
func TestBadSubAgents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ agent, lines, code, says string }{
		"it crashes":                  {"sub", "say so far\ncrash", "EXECUTION_FAILED", "out of luck"},
		"it wants a login":            {"locked", "x", "EXECUTION_FAILED", "log in"},
		"it sends no JSON":            {"sub", "garbage\nsay all the same", "", "all the same"},
		"it talks a lot":              {"sub", "say begin\nchatter", "", ""},
		"it asks a lot":               {"sub", "flood", "EXECUTION_FAILED", "at once"},
		"a line that never ends":      {"sub", "endless", "EXECUTION_FAILED", "broke the protocol"},
		"it speaks for another":       {"sub", "as editor\nread tea.txt\nwrite late.txt x\nas own\nsay over", "", "over"},
		"it reads outside":            {"sub", "read /etc/passwd", "", "outside the workspace"},
		"it writes outside":           {"sub", "write ../out.txt x", "", "outside the workspace"},
		"it reads another's process":  {"sub", "run true\nas own\nread no.txt", "", "does not exist"},
		"it asks for more afterwards": {"sub", "late late.txt", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := tasked(t, object{"permissions": object{"allow": []string{"task", "run_persistent"}}})
			r := e.Call("task", object{"agent": test.agent, "objective": test.lines})
			if name == "it talks a lot" && r.Code() == "EXECUTION_FAILED" {
				test.code = "EXECUTION_FAILED" // it is faster than anybody listens
			}
			if r.Code() != test.code || !strings.Contains(r.Text()+r.Error("message")+errorDetail(r), test.says) {
				t.Errorf("result: %.2000v", r)
			}
			if len(r.Text()) > 1<<20 {
				t.Errorf("the result has %d bytes", len(r.Text()))
			}
			if exists(e, "late.txt") {
				t.Error("it was done after the end")
			}
		})
	}
}

func errorDetail(r testrig.Result) string {
	fault, _ := r.StructuredContent["error"].(object)
	details, _ := fault["details"].(object)
	text, _ := details["stderr"].(string)
	return text
}

// TestASubAgentInTheSandbox cannot write to the workspace by itself, so an edit that it
// asks to make is asked about once, when it comes through the door.
func TestASubAgentInTheSandbox(t *testing.T) {
	t.Parallel()
	e := tasked(t, object{"sandbox": "prefer"})
	a, done := e.Ask("task", task("sub", "permit edit tea.txt", "itself tea.txt black", "write tea.txt red", "itself "+filepath.Join(os.TempDir(), "pillion-test-itself")+" x"))
	if a.Text("tool") == "task_permission" {
		t.Log("not run: there is no sandbox here")
		answered(t, a, done, object{"decision": "cancel"})
		return
	}
	if got := a.File("before"); a.Text("tool") != "write_file" || got != "green\n" {
		t.Errorf("asked: %s, before %q", a.Text("tool"), got)
	}
	r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	if text := r.Text(); !strings.Contains(text, `"yes"`) || !strings.Contains(text, "read-only file system") && !strings.Contains(text, "permission denied") || strings.Count(text, "written") != 1 {
		t.Errorf("result: %v", r)
	}
	wantText(t, e, "tea.txt", "red")
}
