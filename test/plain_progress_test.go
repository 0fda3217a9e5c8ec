package test

import (
	"encoding/json"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// bar is one $/progress of a work done progress.
type bar struct {
	Token string
	Value struct {
		Kind, Title, Message string
		Cancellable          bool
	}
}

func nextBar(t *testing.T, e *testrig.Editor) (b bar) {
	t.Helper()
	must(t, json.Unmarshal(testrig.Wait(t, e.Progress, "$/progress"), &b))
	return b
}

// endOfBar is what the bar ends with. Before it a busy machine may say again that the call runs.
func endOfBar(t *testing.T, e *testrig.Editor) bar {
	t.Helper()
	for {
		if b := nextBar(t, e); b.Value.Kind != "report" {
			return b
		}
	}
}

func TestProgressOfACallThatWaits(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true, Bars: true})
	box, done := e.AskInBox("edit_file", edit)
	token := testrig.Wait(t, e.Created, "window/workDoneProgress/create")
	begin := nextBar(t, e)
	if begin.Token != token || begin.Value.Kind != "begin" || begin.Value.Title != `"fake editor": Edit app.py` && begin.Value.Title != "fake editor: Edit app.py" ||
		begin.Value.Message != "waits for your answer" || !begin.Value.Cancellable {
		t.Errorf("the begin: %+v", begin)
	}
	box.Answer <- "Reject"
	testrig.Wait(t, done, "the result")
	if end := endOfBar(t, e); end.Token != token || end.Value.Kind != "end" || !strings.Contains(end.Value.Message, "rejected") {
		t.Errorf("the end: %+v", end)
	}
}

func TestProgressOfACommandThatIsCancelled(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true, Bars: true, Settings: object{"permissions": object{"ask": []string{}, "allow": []string{`run_command("sleep 1000")`}}}})
	done := e.Start("run_command", object{"command": "sleep 1000"})
	token := testrig.Wait(t, e.Created, "window/workDoneProgress/create")
	if begin := nextBar(t, e); begin.Value.Kind != "begin" || begin.Value.Message != "running" {
		t.Errorf("the begin: %+v", begin)
	}
	e.Notify("window/workDoneProgress/cancel", object{"token": "another"})
	e.Notify("window/workDoneProgress/cancel", object{"token": token})
	r := testrig.Wait(t, done, "the result")
	r.Want(t, "CANCELLED", "the user stopped this call")
	if end := endOfBar(t, e); end.Token != token || end.Value.Kind != "end" {
		t.Errorf("the end: %+v", end)
	}
	if r := e.Call("read_file", object{"path": "app.py"}); r.IsError { // the session goes on
		t.Errorf("read_file: %v", r.StructuredContent)
	}
}

func TestProgressThatIsCancelledWithdrawsTheQuestion(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true, Bars: true})
	e.KeepsBoxes = true
	box, done := e.AskInBox("edit_file", edit)
	e.Notify("window/workDoneProgress/cancel", object{"token": testrig.Wait(t, e.Created, "window/workDoneProgress/create")})
	testrig.Wait(t, done, "the result").Want(t, "CANCELLED")
	box.Answer <- "Approve"
	check.Same(t, "the withdrawn question was approved", e.Call("read_file", object{"path": "app.py"}).StructuredContent["content"], app)
}
