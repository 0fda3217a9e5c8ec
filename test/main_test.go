package test

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"pillion/cli"
	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/tools/process"
)

// TestMain lets the test binary be pillion itself, so that what is tested is the
// whole program in a process of its own, and an MCP server that it starts.
func TestMain(m *testing.M) {
	process.PlayPart()
	if os.Getenv(subAgentVariable) != "" {
		os.Exit(runSubAgent())
	}
	if os.Getenv("PILLION_TEST_MAIN") != "" {
		os.Exit(cli.Run(os.Args[1:], cli.Build{Version: "0.1.0-dev", Commit: "0123456789abcdef", Date: "2026-11-20T13:14:41Z"}))
	}
	if len(os.Args) > 1 && os.Args[1] == "mcp-server" {
		mcpServer()
		return
	}
	moreAtOnce()
	os.Exit(m.Run())
}

// moreAtOnce has more tests run at a time than there are cores: they wait for other programs most
// of theirs.
func moreAtOnce() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
}

// spawn starts `pillion serve` under a fake editor.
func spawn(t testing.TB, o testrig.Options) *testrig.Editor {
	t.Helper()
	return testrig.Spawn(t, []string{self(t), "serve"}, o)
}

type object = map[string]any

// self is this binary, which is pillion where PILLION_TEST_MAIN is set.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	return exe
}

var must = check.Must

// ask makes a request, and gives what it answers.
func ask[V any](e *testrig.Editor, method string, params any) (answer V) {
	e.Must(method, params, &answer)
	return answer
}

// What the user does with a request.
var yes, no = object{"decision": "approve"}, object{"decision": "reject"}

// asked waits for the request of a call, has it answered so, and gives what comes of the call.
func asked[V any](t *testing.T, e *testrig.Editor, done <-chan V, answer object) V {
	t.Helper()
	return answered(t, testrig.Wait(t, e.Approvals, "the dialog"), done, answer)
}

// answered has a request answered so, for what it shows, and gives what comes of the call.
func answered[V any](t *testing.T, a *testrig.Approval, done <-chan V, answer object) V {
	t.Helper()
	of := object{"digest": a.Text("digest")}
	maps.Copy(of, answer)
	a.Answer <- of
	return testrig.Wait(t, done, "the result")
}

// begin makes a call that may be given up, and gives how it ends.
func begin(ctx context.Context, e *testrig.Editor, tool string, arguments object) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- e.Conn.Call(ctx, "tools/call", object{"name": tool, "arguments": arguments}, nil) }()
	return ended
}

// askedOrDone makes a call, and gives the user's request, nil where there is none, and what comes
// of the call.
func askedOrDone(e *testrig.Editor, call object) (*testrig.Approval, <-chan testrig.Result) {
	done := make(chan testrig.Result, 1)
	go func() {
		var r testrig.Result
		e.Must("tools/call", call, &r)
		done <- r
	}()
	select {
	case a := <-e.Approvals:
		return a, done
	case r := <-done:
		done <- r
		return nil, done
	}
}

// lay writes a file, and the folders that it is in.
func lay(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

// put writes a file that may be run.
func put(t testing.TB, name, text string) {
	t.Helper()
	lay(t, name, text)
	must(t, os.Chmod(name, 0o755))
}

// startAs starts a call in a session.
func startAs(e *testrig.Editor, id, tool string, arguments object) <-chan testrig.Result {
	done := make(chan testrig.Result, 1)
	go func() { done <- callAs(e, id, tool, arguments) }()
	return done
}
