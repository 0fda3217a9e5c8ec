package test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

func TestCommandsAreOfferedToEditorsWithoutPlugin(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Silent: true})
	raw := string(e.Initialize(testrig.Options{Dirs: []string{e.Dir}, Plain: true}))
	want := `"executeCommandProvider":{"commands":["pillion.approve","pillion.approveSession","pillion.cancel","pillion.endProcess","pillion.newTurn","pillion.pause","pillion.reject","pillion.revertCall","pillion.revertSession","pillion.revertTurn","pillion.setMode","pillion.show","pillion.status","pillion.trustSettings"]}`
	check.Has(t, "the capabilities", raw, want)
	if info, err := e.Execute("pillion.setMode", "plan"); err != nil || info["mode"] != "plan" {
		t.Errorf("pillion.setMode gave %v, %v", info, err)
	}
	if _, err := e.Execute("pillion.nothing"); code(err) != wire.CodeInvalidParams {
		t.Errorf("an unknown command: %v", err)
	}
}

func code(err error) int64 {
	var broken *wire.Error
	if !errors.As(err, &broken) {
		return 0
	}
	return broken.Code
}

func TestAnswersByCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string
		args    []any
		code    string
		message string
	}{
		{"pillion.approve", nil, "", ""},
		{"pillion.approveSession", nil, "", ""},
		{"pillion.reject", nil, "USER_REJECTED", ""},
		{"pillion.reject", []any{"round in the caller"}, "USER_REJECTED", "round in the caller"},
		{"pillion.cancel", nil, "CANCELLED", "paused"},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			e := spawnWithApp(t, testrig.Options{Plain: true})
			e.KeepsBoxes = true
			box, done := e.AskInBox("edit_file", edit)
			if got, err := e.Execute(c.command, c.args...); err != nil || got["approvalId"] == "" {
				t.Fatalf("%v, %v", got, err)
			}
			r := testrig.Wait(t, done, "the result")
			if r.Code() != c.code || !strings.Contains(r.Error("message"), c.message) || (c.code == "") != strings.Contains(e.Read("app.py"), "round(") {
				t.Errorf("result %v, on disk %q", r.StructuredContent, e.Read("app.py"))
			}
			box.Answer <- "Approve" // late: it does nothing
			if _, err := e.Execute("pillion.approve"); code(err) != wire.CodeRequestFailed {
				t.Errorf("nothing waits, and yet: %v", err)
			}
			if c.command != "pillion.approveSession" {
				return
			}
			e.Call("edit_file", object{"path": "app.py", "old_string": "round(", "new_string": "abs("}).Want(t, "") // it was approved for the session
		})
	}
}

// waitingRequests are those that wait for the user, once they are so many.
func waitingRequests(t *testing.T, e *testrig.Editor, n int) (waiting []any) {
	for len(waiting) < n {
		status, err := e.Execute("pillion.status")
		must(t, err)
		waiting, _ = status["waiting"].([]any)
	}
	return waiting
}

// TestACommandNamesItsApproval: the one that is named, and never one that nobody
// has seen.
func TestACommandNamesItsApproval(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	one := e.Start("write_file", object{"path": "one.txt", "content": "1"})
	testrig.Wait(t, e.Boxes, "the first message box")
	two := e.Start("write_file", object{"path": "two.txt", "content": "2"})
	waiting := waitingRequests(t, e, 2)
	second, _ := waiting[1].(object)
	if text, _ := second["text"].(string); !strings.Contains(text, "two.txt") {
		t.Fatalf("the second is %v", second)
	}
	if _, err := e.Execute("pillion.approve", "no such"); code(err) != wire.CodeInvalidParams {
		t.Errorf("an unknown approval: %v", err)
	}
	must(t, execute(e, "pillion.approve", second["approvalId"]))
	testrig.Wait(t, two, "the second result").Want(t, "")
	wantText(t, e, "two.txt", "2")
	wantText(t, e, "one.txt", "")
	must(t, execute(e, "pillion.reject"))
	testrig.Wait(t, one, "the first result").Want(t, "USER_REJECTED")
}

func TestWhatWasNotShownCannotBeApproved(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	var calls []<-chan testrig.Result
	names := []string{"1", "2", "3", "4", "5", "6", "7"} // more than pillion.status shows in full
	for _, name := range names {
		calls = append(calls, e.Start("write_file", object{"path": name, "content": "x"}))
	}
	unseen := 0
	for _, w := range slices.Backward(waitingRequests(t, e, len(names))) {
		w := w.(object)
		_, err := e.Execute("pillion.approve", w["approvalId"])
		if w["text"] == nil && code(err) == wire.CodeRequestFailed {
			unseen++
			_, err = e.Execute("pillion.reject", "", w["approvalId"])
		}
		if err != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
	if unseen == 0 {
		t.Error("what was never shown was approved")
	}
	for _, done := range calls {
		testrig.Wait(t, done, "a result")
	}
}

// TestAYesByCommandIsForWhatWasShown and not for what it has become since.
func TestAYesByCommandIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	done := e.Start("write_file", object{"path": "app.py", "content": "gone\n"})
	testrig.Wait(t, e.Boxes, "the message box")
	// Through another name of the same file, which nobody watches: the box that is open stays the one that is answered.
	elsewhere := filepath.Join(t.TempDir(), "app.py")
	must(t, os.Link(filepath.Join(e.Dir, "app.py"), elsewhere))
	theirs := app + "# written meanwhile\n"
	must(t, os.WriteFile(elsewhere, []byte(theirs), 0o644))
	must(t, execute(e, "pillion.approve"))
	again := testrig.Wait(t, e.Boxes, "another message box")
	if e.Read("app.py") != theirs || !strings.Contains(again.Message, "# written meanwhile") {
		t.Errorf("on disk %q, the box %q", e.Read("app.py"), again.Message)
	}
	again.Answer <- "Reject"
	testrig.Wait(t, done, "the result")
}

// TestABoxThatWasLost is opened again, and what the lost one might still answer does
// nothing.
func TestABoxThatWasLost(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.KeepsBoxes = true
	if _, err := e.Execute("pillion.show"); code(err) != wire.CodeRequestFailed {
		t.Errorf("nothing is open, and yet: %v", err)
	}
	lost, done := e.AskInBox("edit_file", edit)
	must(t, execute(e, "pillion.show"))
	box := testrig.Wait(t, e.Boxes, "the message box once more")
	lost.Answer <- "Approve"
	check.Same(t, "the lost box approved something", e.Call("read_file", object{"path": "app.py"}).StructuredContent["content"], app)
	box.Answer <- "Reject"
	testrig.Wait(t, done, "the result").Want(t, "USER_REJECTED")
}

func TestStatusIsShown(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	done := e.Start("edit_file", edit)
	testrig.Wait(t, e.Boxes, "the message box")
	status, err := e.Execute("pillion.status")
	must(t, err)
	waiting, _ := status["waiting"].([]any)
	sessions, _ := status["sessions"].([]any)
	if len(waiting) != 1 || len(sessions) != 1 {
		t.Errorf("pillion.status gave %v", status)
	}
	shown := testrig.Wait(t, e.Messages, "window/showMessage")
	check.Has(t, "the message", shown, "1 request is waiting for your answer", "+    return round(sum(prices), 2)", "session editor: ", "mode default")
	must(t, execute(e, "pillion.reject"))
	testrig.Wait(t, done, "the result")
}

// TestAnEditorWithoutBoxesThatRunsCommands: Helix 25.01. The question is a page,
// and commands answer it.
func TestAnEditorWithoutBoxesThatRunsCommands(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true, Commands: true, Bars: true})
	e.OnBox = func() (any, error) { return nil, wire.Errorf(wire.CodeMethodNotFound, "no such thing") }
	done := e.Start("edit_file", edit)
	check.Has(t, "the message", testrig.Wait(t, e.Messages, "a word about the question"), "asks: Edit app.py (pillion.show")
	if _, err := e.Execute("pillion.approve"); code(err) != wire.CodeRequestFailed {
		t.Errorf("what nobody has seen was approved: %v", err)
	}
	check.Has(t, "the message", testrig.Wait(t, e.Messages, "the failure"), "was not shown yet")
	must(t, execute(e, "pillion.show"))
	page, err := url.Parse(testrig.Wait(t, e.Shown, "window/showDocument"))
	must(t, err)
	text, err := os.ReadFile(page.Path)
	if err != nil || !strings.Contains(string(text), "+    return round(sum(prices), 2)") || !strings.Contains(string(text), "pillion.reject") {
		t.Errorf("the page: %q, %v", text, err)
	}
	must(t, execute(e, "pillion.approve"))
	if r := testrig.Wait(t, done, "the result"); r.IsError || !strings.Contains(e.Read("app.py"), "round(") {
		t.Errorf("result: %v", r.StructuredContent)
	}
	if _, err := os.Stat(page.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the page is left: %v", err)
	}
}

// TestNewTurnResumesWhoeverIsPaused: editors whose commands take no arguments cannot
// name a session.
func TestNewTurnResumesWhoeverIsPaused(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.Must("session/open", object{"sessionId": "agent"}, nil)
	result := startAs(e, "agent", "edit_file", edit)
	testrig.Wait(t, e.Boxes, "the message box")
	must(t, execute(e, "pillion.cancel"))
	testrig.Wait(t, result, "the result")
	for _, want := range []string{"CANCELLED", ""} {
		if r := callAs(e, "agent", "read_file", object{"path": "app.py"}); r.Code() != want {
			t.Errorf("read_file: %v, want %q", r.StructuredContent, want)
		}
		must(t, execute(e, "pillion.newTurn"))
	}
}

func TestAProcessIsListedAndEndedByCommand(t *testing.T) {
	t.Parallel()
	o := persistent()
	o.Plain = true
	e := spawn(t, o)
	if _, err := e.Execute("pillion.endProcess"); code(err) != wire.CodeRequestFailed {
		t.Errorf("nothing runs: %v", err)
	}
	startProcess(t, e, "one", "server", "echo up; sleep 1001", "up")
	startProcess(t, e, "two", "server", "echo up; sleep 1002", "up")
	status, err := e.Execute("pillion.status")
	must(t, err)
	if list, _ := status["processes"].([]any); len(list) != 2 {
		t.Errorf("pillion.status gave %v", status)
	}
	if shown := testrig.Wait(t, e.Messages, "window/showMessage"); !strings.Contains(shown, "process server of fake editor: echo up; sleep 1001") {
		t.Errorf("the user reads %s", shown)
	}
	if _, err := e.Execute("pillion.endProcess", "serve"); code(err) != wire.CodeInvalidParams {
		t.Errorf("an unknown process: %v", err)
	}
	for _, arguments := range [][]any{{"server", "one"}, nil} {
		ended, err := e.Execute("pillion.endProcess", arguments...)
		if err != nil || ended["running"] != false || ended["exitCode"] != 143.0 {
			t.Errorf("%v: %v, %v", arguments, ended, err)
		}
	}
	if status, err = e.Execute("pillion.status"); err != nil || len(status["processes"].([]any)) != 0 {
		t.Errorf("afterwards pillion.status gave %v, %v", status, err)
	}
}
