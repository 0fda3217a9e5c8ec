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
	o := allowed()
	command := os.Args[0]
	if os.Getuid() == 0 {
		const nobody = 65534
		o.UID = nobody
		command = copyForEveryone(t, command)
	}
	e := testrig.Spawn(t, []string{command, "serve"}, o)
	line := fmt.Sprintf("cat /proc/%d/fdinfo/0 >/dev/null && echo open; ls /proc/%[1]d/fd && echo listed; echo ran", e.Command.Process.Pid)
	out, _ := e.Call("run_command", object{"command": line}).StructuredContent["stdout"].(string)
	check.Same(t, "the command reached the sidecar", out, "ran\n")
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
