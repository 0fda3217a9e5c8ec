package test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/testrig/machine"
)

// persistent lets agents start processes without dialogs. Without a sandbox: the
// tests look at process numbers, which in one are others.
func persistent() testrig.Options {
	return testrig.Options{Settings: object{"permissions": object{"allow": []string{"run_persistent", "run_command"}}, "sandbox": "off"}}
}

// outputs is what an editor heard of processes.
type outputs struct {
	mu  sync.Mutex // guards all
	all []testrig.ProcessOutput
}

func (o *outputs) hear(p testrig.ProcessOutput) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, p)
}

func (o *outputs) of(id string) []testrig.ProcessOutput {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []testrig.ProcessOutput
	for _, p := range o.all {
		if p.ProcessID == id {
			out = append(out, p)
		}
	}
	return out
}

// text is all that came of one process; it fails where a piece is missing.
func (o *outputs) text(t *testing.T, id string) string {
	t.Helper()
	var out strings.Builder
	for _, p := range o.of(id) {
		if p.Start != int64(out.Len()) || p.Next != p.Start+int64(len(p.Text)) {
			t.Errorf("%q from %d to %d came after %d bytes", p.Text, p.Start, p.Next, out.Len())
		}
		out.WriteString(p.Text)
	}
	return out.String()
}

func (o *outputs) last(id string) testrig.ProcessOutput {
	if all := o.of(id); len(all) > 0 {
		return all[len(all)-1]
	}
	return testrig.ProcessOutput{Running: true}
}

// start starts a process for a session, and gives what run_persistent answered.
func startProcess(t *testing.T, e *testrig.Editor, session, id, command, ready string) object {
	t.Helper()
	r := callAs(e, session, "run_persistent", object{"command": command, "process_id": id, "ready_pattern": ready})
	if r.StructuredContent["ready"] != true {
		t.Fatalf("run_persistent: %v", r.StructuredContent)
	}
	return r.StructuredContent
}

func TestTheEditorWatchesAProcess(t *testing.T) {
	t.Parallel()
	e := spawn(t, persistent())
	var heard outputs
	e.OnOutput(heard.hear)
	e.Must("session/open", object{"sessionId": "s1", "agent": object{"name": "claude", "via": "chat"}}, nil)
	e.Write("sub/keep", "")
	r := callAs(e, "s1", "run_persistent", object{
		"command": "echo grüße; while read -r line; do echo got $line; done", "process_id": "echo", "cwd": "sub", "ready_pattern": "gr",
	})

	first := heard.of("echo")
	eventually(t, "the first message", func() bool { first = heard.of("echo"); return len(first) > 0 })
	if p := first[0]; p.SessionID != "s1" || p.Text != "" || p.Start != 0 || p.Next != 0 || !p.Running {
		t.Errorf("the first message: %+v", p)
	}
	eventually(t, "the output", func() bool { return heard.text(t, "echo") == "grüße\n" })

	list := ask[struct{ Processes []object }](e, "process/list", object{"sessionId": "s1"})
	if len(list.Processes) != 1 {
		t.Fatalf("process/list: %v", list)
	}
	p := list.Processes[0]
	agent, _ := p["agent"].(object)
	if p["sessionId"] != "s1" || p["processId"] != "echo" || p["pid"] != r.StructuredContent["pid"] || p["cwd"] != "sub" || p["running"] != true ||
		agent["name"] != "claude" || agent["via"] != "chat" || p["started"] == nil || !strings.HasPrefix(fmt.Sprint(p["command"]), "echo gr") {
		t.Errorf("process/list: %v", p)
	}

	// The user types into it, and ends it.
	written := ask[struct{ BytesWritten int }](e, "process/write", object{"sessionId": "s1", "processId": "echo", "input": "me\n"})
	check.Same(t, "process/write", written.BytesWritten, 3)
	eventually(t, "the answer", func() bool { return heard.text(t, "echo") == "grüße\ngot me\n" })
	var killed struct {
		Running  bool
		ExitCode *int
	}
	e.Must("process/kill", object{"sessionId": "s1", "processId": "echo"}, &killed)
	if killed.Running || killed.ExitCode == nil || *killed.ExitCode != 128+15 {
		t.Errorf("process/kill: %+v", killed)
	}
	check.Has(t, "what the agent reads", callAs(e, "s1", "read_process", object{"process_id": "echo"}).Text(), "the user ended it")
	eventually(t, "the last message", func() bool { return !heard.last("echo").Running })
	if last := heard.last("echo"); last.Text != "" || last.ExitCode == nil || *last.ExitCode != 128+15 {
		t.Errorf("the last message: %+v", last)
	}

	for method, params := range map[string]object{
		"process/kill":  {"sessionId": "s2", "processId": "echo"},
		"process/write": {"sessionId": "s1", "processId": "none", "input": "x"},
	} {
		e.Refuses(method, params, -32602)
	}
	e.Refuses("process/kill", object{"sessionId": "s1", "processId": "echo", "signal": "STOP"}, -32602) // an unknown signal
	e.Refuses("process/write", object{"sessionId": "s1", "processId": "echo", "input": "late"}, -32803) // a write after the end
}

func TestTheEditorSeesWhatGoesOnInTheBackground(t *testing.T) {
	t.Parallel()
	e := spawn(t, persistent())
	var heard outputs
	e.OnOutput(heard.hear)
	r := e.Call("run_command", object{"command": "echo begun; until [ -e go ]; do sleep 0.02; done; echo ended; exit 3", "background_after": 0.3})
	s := r.StructuredContent
	id, _ := s["process_id"].(string)
	soFar, _ := s["stdout"].(string) // on a slow machine it may have printed nothing yet
	if s["ok"] != true || s["exit_code"] != nil || id == "" || !strings.HasPrefix("begun\n", soFar) {
		t.Fatalf("result: %v", s)
	}
	e.Write("go", "")
	eventually(t, "the end", func() bool { return !heard.last(id).Running })
	if text := heard.text(t, id); text != "begun\nended\n" || *heard.last(id).ExitCode != 3 {
		t.Errorf("%q, %+v", text, heard.last(id))
	}
	read := e.Call("read_process", object{"process_id": id, "since": s["next"]}).StructuredContent
	if fmt.Sprint(soFar, read["output"]) != "begun\nended\n" || read["exit_code"] != 3.0 || read["running"] != false {
		t.Errorf("read_process: %v", read)
	}
}

func TestAProcessEndsWithItsSession(t *testing.T) {
	t.Parallel()
	e := spawn(t, persistent())
	var pids []int
	for _, session := range []string{"one", "one", "two"} {
		got := startProcess(t, e, session, fmt.Sprint(len(pids)), "trap '' HUP TERM; echo up; setsid sleep 1001 & wait; sleep 1002", "up")
		pids = append(pids, int(got["pid"].(float64)))
	}
	e.Must("session/close", object{"sessionId": "one"}, nil)
	eventually(t, "the end of the session's processes", allGone(pids[:2]))
	if !alive(pids[2]) {
		t.Error("another session's process ended too")
	}
	list := ask[struct{ Processes []object }](e, "process/list", object{})
	if len(list.Processes) != 1 || list.Processes[0]["sessionId"] != "two" {
		t.Errorf("process/list: %v", list)
	}
}

// survivors starts a command that leaves processes in every way it can, and gives what
// tells how many of them there are. In a sandbox their numbers are others than
// outside, so they are known by how long they sleep. The call ends with ctx.
func survivors(ctx context.Context, t *testing.T, e *testrig.Editor, tool string) (living func() int) {
	t.Helper()
	nap := fmt.Sprintf("%d%04d", os.Getpid(), naps.Add(1))
	arguments := object{"command": strings.ReplaceAll("sleep NAP & (trap '' TERM HUP; sleep NAP; sleep NAP) & "+
		"setsid sh -c '(setsid sh -c \"exec sleep NAP\" &) ; sleep NAP' & wait", "NAP", nap)}
	if tool == "run_persistent" {
		arguments["process_id"] = "survivor"
	}
	call := object{"sessionId": "s1", "name": tool, "arguments": arguments}
	go e.Conn.Call(ctx, "tools/call", call, nil) //nolint:errcheck // it is cut off
	living = func() int {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		must(t, err)
		n := 0
		for _, line := range lines {
			if words, _ := os.ReadFile(line); string(words) == "sleep\x00"+nap+"\x00" {
				n++
			}
		}
		return n
	}
	eventually(t, "four processes", func() bool { return living() == 4 })
	return living
}

// naps is how many survivors there were.
var naps atomic.Int32

func TestNoProcessSurvives(t *testing.T) {
	type end func(e *testrig.Editor, parent *os.Process, cancel func())
	all := map[string]end{
		"stdin closes":          func(e *testrig.Editor, _ *os.Process, _ func()) { e.Conn.Close() },           //nolint:errcheck // it is open
		"the sidecar is killed": func(e *testrig.Editor, _ *os.Process, _ func()) { e.Command.Process.Kill() }, //nolint:errcheck // it runs
		"the editor is killed":  func(_ *testrig.Editor, parent *os.Process, _ func()) { parent.Kill() },       //nolint:errcheck // it runs
		"exit without shutdown": func(e *testrig.Editor, _ *os.Process, _ func()) { e.Notify("exit", nil) },
	}
	own := map[string]map[string]end{
		"run_command": {"the call is cancelled": func(_ *testrig.Editor, _ *os.Process, cancel func()) { cancel() }},
		"run_persistent": {
			"the session closes": func(e *testrig.Editor, _ *os.Process, _ func()) {
				e.Must("session/close", object{"sessionId": "s1"}, nil)
			},
			"the user ends it": func(e *testrig.Editor, _ *os.Process, _ func()) {
				e.Must("process/kill", object{"sessionId": "s1", "processId": "survivor"}, nil)
			},
		},
	}
	for tool, ends := range own {
		maps.Copy(ends, all)
		for name, end := range ends {
			for _, sandbox := range []string{"off", "prefer"} {
				t.Run(tool+", sandbox "+sandbox+", "+name, func(t *testing.T) {
					t.Parallel() // each waits most of the time
					noneSurvives(t, tool, sandbox, end)
				})
			}
		}
	}
}

func noneSurvives(t *testing.T, tool, sandbox string, end func(e *testrig.Editor, parent *os.Process, cancel func())) {
	// The editor is a process of its own here, which dies without closing anything.
	parent := exec.Command("sleep", "1000")
	must(t, parent.Start())
	waited := make(chan struct{})
	go func() { parent.Wait(); close(waited) }() //nolint:errcheck // it is killed
	t.Cleanup(func() { parent.Process.Kill(); <-waited })
	settings := persistent().Settings
	settings["sandbox"] = sandbox
	e := spawn(t, testrig.Options{Silent: true})
	e.Must("initialize", object{
		"processId": parent.Process.Pid, "rootUri": testrig.URI(e.Dir), "capabilities": object{}, "initializationOptions": settings,
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	living := survivors(ctx, t, e, tool)
	end(e, parent.Process, cancel)
	eventually(t, "the end of every process", func() bool { return living() == 0 })
}

// memoryOf is what a process holds of memory, now and at most, in MB.
func memoryOf(t *testing.T, pid int) (now, most int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	for line := range strings.Lines(string(data)) {
		fmt.Sscanf(line, "VmRSS: %d", &now)  //nolint:errcheck // it is another line
		fmt.Sscanf(line, "VmHWM: %d", &most) //nolint:errcheck // likewise
	}
	return now >> 10, most >> 10
}

// checkMemoryBelow holds a sidecar to what it may ever take, in megabytes. The race detector takes
// several times as much again.
func checkMemoryBelow(t *testing.T, pid, most int) {
	t.Helper()
	if raced {
		most *= 3
	}
	_, peak := memoryOf(t, pid)
	t.Logf("the sidecar took %d MB of %d", peak, most)
	if peak > most {
		t.Errorf("the sidecar took %d MB, more than %d", peak, most)
	}
}

func TestEndlessOutputTakesNoMemory(t *testing.T) {
	t.Parallel()
	e := spawn(t, persistent())
	size := machine.Cases(300_000_000, 1_000_000_000) // more than it may take
	long := e.Call("run_command", object{"command": fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; exit 9", size), "timeout_seconds": 600}).StructuredContent
	out, _ := long["stdout"].(string)
	if long["exit_code"] != 9.0 || long["truncated"] != true || len(out) > 1<<20+100 || !strings.Contains(out, fmt.Sprintf("%d bytes left out", size-1<<20)) {
		t.Errorf("a long line: exit code %v, kept %d bytes", long["exit_code"], len(out))
	}
	endless := e.Call("run_command", object{"command": "yes", "timeout_seconds": 1}).StructuredContent
	check.Same(t, "yes: exit code", endless["exit_code"], 124.0)
	checkMemoryBelow(t, e.Command.Process.Pid, 150)
}

// An editor that does not read gets no queue: later it is told by offsets what it
// missed, and the sidecar has kept its size.
func TestAnEditorThatDoesNotReadOutput(t *testing.T) {
	t.Parallel()
	e := spawn(t, persistent())
	var heard outputs
	release, blocked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	e.OnOutput(func(p testrig.ProcessOutput) {
		if p.Next > 0 {
			once.Do(func() { close(blocked) })
			<-release
		}
		heard.hear(p)
	})
	done := e.Start("run_persistent", object{"command": "seq 10; until [ -e go ]; do :; done; seq 20000000; echo all >done; cat", "process_id": "flood"})
	testrig.Wait(t, blocked, "the first output")
	e.Write("go", "")
	eventually(t, "the end of the flood", func() bool { return e.Read("done") != "" })
	checkMemoryBelow(t, e.Command.Process.Pid, 150)
	close(release)
	testrig.Wait(t, done, "the result")
	const total = 168888897 + 21 // of the two seqs
	eventually(t, "the end of the output", func() bool { return heard.last("flood").Next == total })
	var next, missing int64
	for _, p := range heard.of("flood") {
		missing += p.Start - next
		next = p.Next
		if len(p.Text) > 64<<10 {
			t.Errorf("a piece of %d bytes", len(p.Text))
		}
	}
	if missing < total/2 || !strings.HasSuffix(heard.last("flood").Text, "\n20000000\n") {
		t.Errorf("%d bytes are missing, the last piece ends in %q", missing, heard.last("flood").Text[:20])
	}
}
