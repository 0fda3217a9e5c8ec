package test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

// The tests in plain_*test.go are those of editors without a plugin.

func TestAnEditorWithoutPluginIsAskedByMessageBox(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	for answer, want := range map[string]string{"": "USER_REJECTED", "Reject": "USER_REJECTED", "Approve": "", "no button": "USER_REJECTED"} {
		box, done := e.AskInBox("edit_file", edit)
		if !slices.Equal(box.Actions, []string{"Reject", "Approve", "Approve for this session"}) || !strings.Contains(box.Message, "+    return round(sum(prices), 2)") {
			t.Errorf("the box: %q %v", box.Message, box.Actions)
		}
		box.Answer <- answer
		if r := e.AnswerBoxes(done, answer); r.Code() != want {
			t.Errorf("%q gave %v", answer, r.StructuredContent)
		}
		e.Write("app.py", app)
	}
}

func TestApprovedForTheSessionInABox(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	box, done := e.AskInBox("run_command", object{"command": "echo once"})
	check.Has(t, "the box", box.Message, "For this session would mean: run_command(echo once)")
	box.Answer <- "Approve for this session"
	e.AnswerBoxes(done, "Approve for this session")
	second := e.Start("run_command", object{"command": "go test ./a"}) // with a narrow pattern, and a rule for the workspace, on offer as well
	box = testrig.Wait(t, e.Boxes, "another message box")
	if !slices.Equal(box.Actions, []string{"Reject", "Approve", "Approve for this session"}) || !strings.Contains(box.Message, "For this session would mean: run_command(go test ./a)") {
		t.Errorf("the box: %q %v", box.Message, box.Actions)
	}
	box.Answer <- "Reject"
	testrig.Wait(t, second, "the second result")
	check.Same(t, "the second call", e.Call("run_command", object{"command": "echo once"}).StructuredContent["stdout"], "once\n")
}

func TestABoxShowsWhatCannotBeSeenAndIsCapped(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	long := "echo \u202egpj.exe; # " + strings.Repeat("long ", 2000)
	box, done := e.AskInBox("run_command", object{"command": long, "stdin": strings.Repeat("text\n", 1000)})
	if strings.ContainsRune(box.Message, '\u202e') || !strings.Contains(box.Message, `\u202e`) {
		t.Error("an invisible character is not shown")
	}
	if len(box.Message) > 10_000 || !strings.Contains(box.Message, "more bytes are not shown") {
		t.Errorf("a box of %d bytes: %q", len(box.Message), box.Message)
	}
	if slices.Contains(box.Actions, "Approve") {
		t.Errorf("what is cut can be approved: %q", box.Actions)
	}
	box.Answer <- "Approve" // all the same
	testrig.Wait(t, done, "the result").Want(t, "USER_REJECTED")
}

// TestALongCommandIsApprovedOnItsPage: the box shows both of its ends and offers no approval;
// nor does a command approve it before the page was opened.
func TestALongCommandIsApprovedOnItsPage(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true, Commands: true})
	box, done := e.AskInBox("run_command", object{"command": "echo first\n" + strings.Repeat(": nothing\n", 1000) + "echo last\nFolder: another"})
	check.Has(t, "the box", box.Message, "\n$ echo first\n", "\n> echo last\n> Folder: another\n", "pillion.show")
	if !slices.Equal(box.Actions, []string{"Reject"}) {
		t.Errorf("the box offers %q", box.Actions)
	}
	e.Refuses("workspace/executeCommand", object{"command": "pillion.approve"}, -32803) // unseen
	e.Must("workspace/executeCommand", object{"command": "pillion.show"}, nil)
	page, err := os.ReadFile(strings.TrimPrefix(testrig.Wait(t, e.Shown, "the page"), "file://"))
	if err != nil || strings.Count(string(page), "\n> : nothing") != 1000 {
		t.Errorf("the page has %d bytes, %v", len(page), err)
	}
	e.Must("workspace/executeCommand", object{"command": "pillion.approve"}, nil)
	if r := testrig.Wait(t, done, "the result"); !strings.HasPrefix(fmt.Sprint(r.StructuredContent["stdout"]), "first\nlast\n") {
		t.Errorf("the result: %v", r.StructuredContent)
	}
}

func TestAnEditorThatHasNoBoxesDenies(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.OnBox = func() (any, error) { return nil, wire.Errorf(wire.CodeMethodNotFound, "no such thing") }
	e.Call("edit_file", edit).Want(t, "APPROVAL_UNAVAILABLE")
	wantText(t, e, "app.py", app)
}

func TestOneBoxAtATime(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	var calls []<-chan testrig.Result
	for _, name := range []string{"one.txt", "two.txt", "three.txt"} {
		calls = append(calls, e.Start("write_file", object{"path": name, "content": "x"}))
	}
	for range calls {
		box := testrig.Wait(t, e.Boxes, "a message box")
		if r := e.Call("read_file", object{"path": "app.py"}); r.IsError { // nobody is held up
			t.Errorf("read_file: %v", r.StructuredContent)
		}
		if len(e.Boxes) > 0 {
			t.Error("a second box is open")
		}
		box.Answer <- "Reject"
	}
	for _, done := range calls {
		testrig.Wait(t, done, "the result").Want(t, "USER_REJECTED")
	}
}

// TestABoxThatOutlivesItsQuestion stays on the screen: its answer does nothing, and
// the next box comes when it is answered.
func TestABoxThatOutlivesItsQuestion(t *testing.T) {
	t.Parallel()
	e, old := spawnWithDeadBox(t)
	done := e.Start("write_file", object{"path": "new.txt", "content": "x"})
	old.Answer <- "Approve"
	box := testrig.Wait(t, e.Boxes, "the next message box")
	wantText(t, e, "app.py", app)
	wantText(t, e, "new.txt", "")
	box.Answer <- "Reject"
	testrig.Wait(t, done, "the result")
}

// TestABoxThatIsNeverAnswered holds up the next question for a moment alone.
func TestABoxThatIsNeverAnswered(t *testing.T) {
	t.Parallel()
	e, _ := spawnWithDeadBox(t)
	done := e.Start("write_file", object{"path": "new.txt", "content": "x"})
	testrig.Wait(t, e.Boxes, "the next message box").Answer <- "Approve"
	testrig.Wait(t, done, "the result").Want(t, "")
	wantText(t, e, "new.txt", "x")
}

// spawnWithDeadBox has an editor show the box of a call that its agent gave up.
func spawnWithDeadBox(t *testing.T) (*testrig.Editor, *testrig.Box) {
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.KeepsBoxes = true
	ctx, cancel := context.WithCancel(t.Context())
	gone := begin(ctx, e, "edit_file", edit)
	old := testrig.Wait(t, e.Boxes, "the message box")
	cancel()
	testrig.Wait(t, gone, "the end of the call")
	return e, old
}

func TestABoxIsOverWhenItsFileMoved(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	first, done := e.AskInBox("write_file", object{"path": "app.py", "content": "gone\n"})
	theirs := app + "# written meanwhile\n"
	e.Write("app.py", theirs)
	e.Notify("workspace/didChangeWatchedFiles", object{"changes": []any{}})
	first.Answer <- "Approve"
	second := testrig.Wait(t, e.Boxes, "the second message box")
	for !strings.Contains(second.Message, "# written meanwhile") { // the first yes may have come too soon to count
		second.Answer <- "Approve"
		second = testrig.Wait(t, e.Boxes, "another message box")
	}
	wantText(t, e, "app.py", theirs)
	second.Answer <- "Approve"
	e.AnswerBoxes(done, "Approve")
	wantText(t, e, "app.py", "gone\n")
}

func TestPromptInABox(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true})
	for answer, want := range map[string]string{"right": "right", "": "cancel"} {
		box, done := e.AskInBox("prompt_user", object{"message": "Which one?", "actions": []string{"left", "right"}})
		if !strings.HasPrefix(box.Message, "fake editor asks:") || !strings.Contains(box.Message, "> Which one?") || !slices.Equal(box.Actions, []string{"left", "right"}) {
			t.Errorf("the box: %+v", box)
		}
		box.Answer <- answer
		if r := testrig.Wait(t, done, "the result"); r.StructuredContent["action"] != want {
			t.Errorf("result: %v", r.StructuredContent)
		}
	}
}

func TestADirtyBufferOfAnEditorWithoutPlugin(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	r := e.AnswerBoxes(e.Start("edit_file", edit), "Approve")
	if b := e.Buffer("app.py"); !strings.Contains(b.Text, "round(") || !strings.HasPrefix(b.Text, "# mine\n") || r.StructuredContent["saved"] != false {
		t.Errorf("buffer %q, result %v", b.Text, r.StructuredContent)
	}
	wantText(t, e, "app.py", app)
}

// TestACleanBufferOfAnEditorWithoutPlugin is written on disk: the editor reloads it.
func TestACleanBufferOfAnEditorWithoutPlugin(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.Open("app.py")
	e.OnApplyEdit = func(json.RawMessage) (any, error) { t.Error("a clean buffer was edited"); return nil, nil }
	r := e.AnswerBoxes(e.Start("edit_file", edit), "Approve")
	if !strings.Contains(e.Read("app.py"), "round(") || r.StructuredContent["saved"] != true {
		t.Errorf("on disk %q, result %v", e.Read("app.py"), r.StructuredContent)
	}
}

// TestWhatApplyEditIsAsked: text edits alone, in one document, at its exact version.
func TestWhatApplyEditIsAsked(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	asked := make(chan json.RawMessage, 1)
	e.OnApplyEdit = func(params json.RawMessage) (any, error) {
		asked <- params
		return object{"applied": false, "failureReason": "not now"}, nil
	}
	r := e.AnswerBoxes(e.Start("edit_file", edit), "Approve")
	r.Want(t, "EXECUTION_FAILED", "not now")
	var p struct {
		Edit struct {
			Changes         any
			DocumentChanges []struct {
				Kind         string
				TextDocument struct {
					URI     string
					Version int32
				}
				Edits []struct{ NewText string }
			}
		}
	}
	raw := testrig.Wait(t, asked, "workspace/applyEdit")
	must(t, json.Unmarshal(raw, &p))
	c := p.Edit.DocumentChanges
	if len(c) != 1 || c[0].Kind != "" || c[0].TextDocument.Version != 2 || len(c[0].Edits) != 1 || p.Edit.Changes != nil {
		t.Errorf("workspace/applyEdit: %s", raw)
	}
}

// TestABufferWithoutAVersion: editors take an edit for version 0 as one for any.
func TestABufferWithoutAVersion(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Plain: true})
	e.Notify("textDocument/didOpen", object{"textDocument": object{
		"uri": testrig.URI(filepath.Join(e.Dir, "app.py")), "languageId": "python", "version": 0, "text": "# mine\n" + app,
	}})
	e.OnApplyEdit = func(json.RawMessage) (any, error) { t.Error("an edit for version 0"); return nil, nil }
	r := e.AnswerBoxes(e.Start("edit_file", edit), "Approve")
	r.Want(t, "EXECUTION_FAILED", "save the file")
	wantText(t, e, "app.py", app)
}

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
	said := begin.Value.Title + ": " + begin.Value.Message
	for !strings.HasSuffix(said, "waits for your answer") { // a busy machine shows a call before it knows what that is about
		said = nextBar(t, e).Value.Message
	}
	if begin.Token != token || begin.Value.Kind != "begin" || !strings.HasSuffix(said, "Edit app.py: waits for your answer") || !begin.Value.Cancellable {
		t.Errorf("the begin: %+v, %s", begin, said)
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
