package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/testrig/machine"
	"pillion/internal/wire"
)

// allowed runs commands without dialogs.
func allowed() testrig.Options {
	return testrig.Options{Settings: object{"permissions": object{"allow": []string{"run_command"}}}}
}

func TestOutputStreamsAsProgress(t *testing.T) {
	t.Parallel()
	e := spawn(t, allowed())
	var r testrig.Result
	e.Must("tools/call", object{"name": "run_command", "arguments": object{"command": "echo streamed"}, "workDoneToken": "token-1"}, &r)
	// Progress comes before the result on the same pipe, so it is there by now.
	select {
	case p := <-e.Progress:
		check.Has(t, "$/progress", string(p), `"token-1"`, `"stream":"stdout"`, `streamed\n`, `"kind":"report"`)
	default:
		t.Error("no progress came before the result")
	}
}

func TestACommandSeesNoSecrets(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("LD_LIBRARY_PATH", "/nowhere")
	t.Setenv("NVIM", "/nowhere")
	t.Setenv("VSCODE_IPC_HOOK", "/nowhere")
	t.Setenv("PILLION_SECRET", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	e := spawn(t, allowed())
	out, _ := e.Call("run_command", object{"command": "env"}).StructuredContent["stdout"].(string)
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "=")
		for _, prefix := range []string{"GIT_DIR", "LD_", "NVIM", "VSCODE_", "PILLION_", "AWS_"} {
			if strings.HasPrefix(name, prefix) {
				t.Errorf("the command sees %s", line)
			}
		}
	}
	check.Has(t, "the environment", out, "PATH=")
}

// TestACommandCannotReachTheSidecarsPipes: through them it could answer its own
// approval. To root nothing is closed, so as root the sidecar runs as nobody.
func TestACommandCannotReachTheSidecarsPipes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux opens the pipes of a process to others by name")
	}
	e, _ := spawnAsNobody(t, allowed())
	line := fmt.Sprintf("cat /proc/%d/fdinfo/0 >/dev/null && echo open; ls /proc/%[1]d/fd && echo listed; echo ran", e.Command.Process.Pid)
	out, _ := e.Call("run_command", object{"command": line}).StructuredContent["stdout"].(string)
	check.Same(t, "the command reached the sidecar", out, "ran\n")
}

// spawnAsNobody starts the sidecar as a user who is not root, and gives what runs lines of a shell as that user.
func spawnAsNobody(t *testing.T, o testrig.Options) (e *testrig.Editor, sh func(line string)) {
	t.Helper()
	command := os.Args[0]
	if os.Getuid() == 0 {
		o.UID = 65534
		command = copyForEveryone(t, command)
	}
	e = testrig.Spawn(t, []string{command, "serve"}, o)
	return e, func(line string) {
		t.Helper()
		c := exec.Command("sh", "-ec", line)
		c.Dir, c.Env = e.Dir, append(os.Environ(), "HOME="+e.Home, "GIT_CONFIG_GLOBAL="+os.DevNull)
		if o.UID != 0 {
			must(t, machine.RunAs(c, o.UID))
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// copyForEveryone puts a program where any user can run it. Another program writes it: what a test
// beside this one starts has our open files for a moment, and who is written to cannot be run.
func copyForEveryone(t *testing.T, program string) string {
	t.Helper()
	file := filepath.Join(testrig.OpenToAll(t), "pillion")
	must(t, exec.Command("cp", program, file).Run())
	must(t, os.Chmod(file, 0o755))
	return file
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(testrig.Patience)
	for tick := time.Tick(5 * time.Millisecond); !holds(); <-tick {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about", what)
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func allGone(pids []int) func() bool {
	return func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	}
}

// endings are the ways in which a sidecar comes to its end.
var endings = map[string]func(e *testrig.Editor){
	"stdin closes":          func(e *testrig.Editor) { e.Stop() },
	"the sidecar is killed": func(e *testrig.Editor) { e.Command.Process.Kill() }, //nolint:errcheck // it runs
	"exit without shutdown": func(e *testrig.Editor) { e.Notify("exit", nil) },
}

func TestProgressCanBeCancelledWhereItIsShown(t *testing.T) {
	t.Parallel()
	e := spawn(t, allowed())
	failed := make(chan error, 1)
	go func() {
		failed <- e.Conn.Call(t.Context(), "tools/call", object{
			"name": "run_command", "arguments": object{"command": "echo begun; sleep 1000"}, "workDoneToken": "shown",
		}, nil)
	}()
	testrig.Wait(t, e.Progress, "the progress")
	e.Notify("window/workDoneProgress/cancel", object{"token": "shown"})
	var broken *wire.Error
	if err := testrig.Wait(t, failed, "the end of the call"); !errors.As(err, &broken) || broken.Code != wire.CodeRequestCancelled {
		t.Errorf("the call ended with %v, want -32800", err)
	}
}

func TestAClientThatStopsReading(t *testing.T) {
	t.Parallel()
	r := spawnRaw(t)
	r.frame(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	// Far more answers than a pipe holds, none of them read.
	const calls = 40
	arguments, _ := json.Marshal(object{"name": "tools/list"})
	for i := range calls {
		r.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":%s}`, i+1000, arguments))
	}
	// The sidecar took all of them in; now they are read, each answered once.
	seen := map[any]bool{}
	for range calls {
		m := r.read()
		if m["result"] == nil || seen[m["id"]] {
			t.Fatalf("an answer is missing or doubled: %v", m)
		}
		seen[m["id"]] = true
	}
}

// A dialog of a command on files with unsaved text, with app.py among them.
func askWithUnsaved(t *testing.T, line string) (*testrig.Editor, <-chan testrig.Result, *testrig.Approval) {
	t.Helper()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	a, done := e.Ask("run_command", object{"command": line})
	if preview, _ := a.Params["preview"].(object); len(unsavedOf(preview)) != 1 {
		t.Fatalf("preview: %v", preview)
	}
	return e, done, a
}

func unsavedOf(preview object) []any {
	unsaved, _ := preview["unsaved"].([]any)
	return unsaved
}

// TestSaveAndRun: what the user saves while they look changes nothing of what they
// judged, so the yes that they give in the same breath counts, and the command sees
// their text.
func TestSaveAndRun(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py")
	e.Save("app.py")
	s := answered(t, a, done, yes).StructuredContent
	if s["stdout"] != "# mine\n"+app || s["unsaved"] != nil {
		t.Errorf("result: %v", s)
	}
}

// TestSavingIsFollowed: the dialog says that nothing is unsaved any more, and a yes
// to what it showed before is still one.
func TestSavingIsFollowed(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py")
	e.Save("app.py")
	changed := heard[changedTold](t, e.Changed, "approval/changed")
	if len(unsavedOf(changed.Preview)) != 0 || !changed.Moved {
		t.Errorf("approval/changed: %+v", changed)
	}
	if s := answered(t, a, done, yes).StructuredContent; s["stdout"] != "# mine\n"+app {
		t.Errorf("result: %v", s)
	}
}

// TestWhatBecomesUnsavedIsAskedAgain: a yes to a command that would see all does not
// hold for one that would miss something.
func TestWhatBecomesUnsavedIsAskedAgain(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py other.py")
	e.Write("other.py", "x\n")
	e.Open("other.py")
	e.Type("other.py", at(0, 0), "y")
	a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
	again := testrig.Wait(t, e.Approvals, "the next dialog")
	if preview, _ := again.Params["preview"].(object); len(unsavedOf(preview)) != 2 {
		t.Errorf("preview: %v", preview)
	}
	again.Answer <- object{"decision": "reject"}
	testrig.Wait(t, done, "the result")
}

// TestADialogFollowsTheScriptThatItIsAbout: what a script on the line holds is part
// of the yes. A change while the dialog is open gives it another digest, and a yes
// to the old one runs nothing.
func TestADialogFollowsTheScriptThatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"sh build.sh", "make"} {
		t.Run(line, func(t *testing.T) {
			e := spawn(t, testrig.Options{})
			file := map[string]string{"sh build.sh": "build.sh", "make": "Makefile"}[line]
			script := e.Write(file, "all:\n\techo one\n")
			a, done := e.Ask("run_command", object{"command": line})
			e.Write(file, "all:\n\techo two >planted\n")
			changed := heard[changedTold](t, e.Changed, "approval/changed")
			if changed.Moved || changed.Digest == "" || changed.Digest == a.Text("digest") {
				t.Errorf("approval/changed: %+v", changed)
			}
			a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
			again := testrig.Wait(t, e.Approvals, "the second dialog")
			if again.Text("digest") == a.Text("digest") { // that of changed may be of the file half written
				t.Error("it asks about what the script was before")
			}
			answered(t, again, done, no).Want(t, "USER_REJECTED")
			if _, err := os.Stat(filepath.Join(filepath.Dir(script), "planted")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// TestAPatternForTheSession: the narrow rule that a dialog offers answers the next
// such command, in this session and in no other.
func TestAPatternForTheSession(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	call := func(session, line string) (*testrig.Approval, <-chan testrig.Result) {
		return askedOrDone(e, object{"name": "run_command", "arguments": object{"command": line}, "sessionId": session})
	}
	asked, done := call("one", "git status --short")
	if asked == nil {
		t.Fatal("nobody was asked")
	}
	answered(t, asked, done, object{"decision": "approve", "decisionId": "pattern"})
	if asked, done := call("one", "git status && git status -b | git status"); asked != nil {
		t.Errorf("asked again: %v", asked.Params)
	} else {
		testrig.Wait(t, done, "the result")
	}
	for _, c := range []struct{ session, line string }{{"two", "git status"}, {"one", "git status; id"}, {"one", "git status > out"}, {"one", "git status --unknown"}, {"one", "git status $(id)"}, {"one", "git log"}} {
		asked, done := call(c.session, c.line)
		if asked == nil {
			t.Errorf("%s ran in session %s", c.line, c.session)
			continue
		}
		asked.Answer <- object{"decision": "reject"}
		testrig.Wait(t, done, "the result")
	}
}
