package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/workspace/document"
)

const app = "def total(prices):\n    return sum(prices)\n\n\ndef main():\n    print(total([1, 2]))\n"

var edit = object{"path": "app.py", "old_string": "sum(prices)", "new_string": "round(sum(prices), 2)"}

func spawnWithApp(t *testing.T, o testrig.Options) *testrig.Editor {
	e := spawn(t, o)
	e.Write("app.py", app)
	return e
}

func TestApprovedEditIsWritten(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	a, done := e.Ask("edit_file", edit)
	wantText(t, e, "app.py", app)
	checkDiffRequest(t, e, a)
	r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	wantText(t, e, "app.py", strings.Replace(app, "sum(prices)", "round(sum(prices), 2)", 1))
	s := r.StructuredContent
	if s["ok"] != true || s["success"] != true || s["operation"] != "overwrite" || s["saved"] != true || s["replacements"] != 1.0 {
		t.Errorf("result: %v", s)
	}
	var resolved struct{ ApprovalID, Outcome string }
	json.Unmarshal(testrig.Wait(t, e.Resolved, "approval/resolved"), &resolved) //nolint:errcheck // compared
	if resolved.ApprovalID != a.Text("approvalId") || resolved.Outcome != "approved" {
		t.Errorf("approval/resolved: %+v", resolved)
	}
}

// checkDiffRequest holds the shape of approval/request against the design.
func checkDiffRequest(t *testing.T, e *testrig.Editor, a *testrig.Approval) {
	t.Helper()
	for _, key := range []string{"approvalId", "callId", "sessionId", "agent", "tool", "title", "description", "reasons", "arguments", "preview", "decisions", "digest"} {
		if a.Params[key] == nil {
			t.Errorf("approval/request has no %s", key)
		}
	}
	for _, key := range []string{"path", "uri", "operation", "language", "size", "before", "after", "diff", "hunks", "additions", "deletions", "openInEditor", "dirty"} {
		if a.File(key) == nil {
			t.Errorf("the preview's file has no %s", key)
		}
	}
	if a.File("before") != app || a.File("uri") != testrig.URI(filepath.Join(e.Dir, "app.py")) || a.File("language") != "python" {
		t.Errorf("the preview is of something else: %v", a.Params["preview"])
	}
	decisions, _ := a.Params["decisions"].([]any)
	first, _ := decisions[0].(object)
	if first["id"] != "reject" || len(decisions) < 3 {
		t.Errorf("decisions: %v; want the refusing one first, and one for the session", decisions)
	}
	for _, d := range decisions {
		if d := d.(object); d["id"] == "session" && d["rule"] != "edit_file(app.py)" {
			t.Errorf("the rule on offer is %v", d["rule"])
		}
	}
}

func TestUnsavedTextSurvives(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	a, done := e.Ask("edit_file", edit)
	if a.File("dirty") != true || a.File("openInEditor") != true || !strings.HasPrefix(a.File("before").(string), "# mine\n") {
		t.Errorf("the dialog does not show the unsaved text: %v", a.Params["preview"])
	}
	r := answered(t, a, done, yes)
	b := e.Buffer("app.py")
	if b.Text != "# mine\n"+strings.Replace(app, "sum(prices)", "round(sum(prices), 2)", 1) || !b.Dirty {
		t.Errorf("the buffer: %+v", b)
	}
	if e.Read("app.py") != app || r.StructuredContent["saved"] != false {
		t.Errorf("a dirty buffer was saved, or the result says so: %v", r.StructuredContent)
	}
}

func TestALinkToAnOpenFileLeadsToItsBuffer(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	must(t, os.Symlink("app.py", filepath.Join(e.Dir, "link.py")))
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	check.Same(t, "through the link", e.Call("read_file", object{"path": "link.py"}).StructuredContent["content"], "# mine\n"+app)
	asked(t, e, e.Start("edit_file", object{"path": "link.py", "old_string": "sum(prices)", "new_string": "0"}), yes)
	if b := e.Buffer("app.py"); b.Text != "# mine\n"+strings.Replace(app, "sum(prices)", "0", 1) || e.Read("app.py") != app {
		t.Errorf("buffer %q, disk %q", b.Text, e.Read("app.py"))
	}
}

func at(line, character uint32) document.Range {
	p := document.Position{Line: line, Character: character}
	return document.Range{Start: p, End: p}
}

func TestACleanOpenFileIsSaved(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Format = func(s string) string { return s + "# formatted\n" }
	r := asked(t, e, e.Start("edit_file", edit), yes)
	if r.StructuredContent["saved"] != true || r.StructuredContent["formatted"] != true || !strings.HasSuffix(e.Read("app.py"), "# formatted\n") {
		t.Errorf("result %v, on disk %q", r.StructuredContent, e.Read("app.py"))
	}
	if diff, _ := r.StructuredContent["diff"].(string); !strings.Contains(diff, "+# formatted\n") {
		t.Errorf("the agent does not learn what the formatter did: %s", diff)
	}
}

func TestAChangeOnDiskReachesTheOpenDialog(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	app := strings.Repeat("# far above\n", 10) + app
	e.Write("app.py", app)
	a, done := e.Ask("edit_file", edit)
	e.Write("app.py", "# new head\n"+app)
	changed := heard[changedTold](t, e.Changed, "approval/changed")
	before := changed.Preview["files"].([]any)[0].(object)["before"]
	if !changed.Moved || changed.ApprovalID != a.Text("approvalId") || changed.Digest == a.Text("digest") || before != "# new head\n"+app {
		t.Errorf("approval/changed: %+v", changed)
	}
	// The edit only moved, so the yes to the first digest is a yes to this one.
	answered(t, a, done, yes)
	wantText(t, e, "app.py", "# new head\n"+strings.Replace(app, "sum(prices)", "round(sum(prices), 2)", 1))
}

// changedTold is approval/changed as an editor reads it.
type changedTold struct {
	ApprovalID, Digest string
	Moved              bool
	Preview            object
}

// heard waits for a notification, and gives what it says.
func heard[T any](t *testing.T, from <-chan json.RawMessage, method string) (told T) {
	t.Helper()
	must(t, json.Unmarshal(testrig.Wait(t, from, method), &told))
	return told
}

func TestAYesToSomethingElseIsAskedAgain(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	first, done := e.Ask("write_file", object{"path": "app.py", "content": "gone\n"})
	theirs := app + "# written meanwhile\n"
	e.Write("app.py", theirs)
	testrig.Wait(t, e.Changed, "approval/changed")
	first.Answer <- object{"decision": "approve", "digest": first.Text("digest")}
	second := testrig.Wait(t, e.Approvals, "the second dialog")
	wantText(t, e, "app.py", theirs)
	if second.File("before") != theirs || second.Text("approvalId") == first.Text("approvalId") {
		t.Errorf("the second dialog: %v", second.Params)
	}
	answered(t, second, done, yes)
	wantText(t, e, "app.py", "gone\n")
}

func TestALateEditIsMergedAndShownAgain(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	first, done := e.Ask("edit_file", edit)
	e.Write("app.py", "# careful\n"+app)
	testrig.Wait(t, e.Changed, "approval/changed")
	mine := strings.Replace(app, "sum(prices)", "round(sum(prices), 2)", 1) + "# and this\n"
	first.Answer <- object{"decision": "edit", "after": object{"app.py": mine}, "digest": first.Text("digest")}
	second := testrig.Wait(t, e.Approvals, "the second dialog")
	after, _ := second.File("after").(string)
	check.Same(t, "the merged proposal", after, "# careful\n"+mine)
	answered(t, second, done, yes)
	wantText(t, e, "app.py", after)
}

func TestTheBufferMovesWhileTheDialogIsOpen(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	a, done := e.Ask("edit_file", edit)
	e.Type("app.py", at(0, 0), "# typed while it was open\n")
	testrig.Wait(t, e.Changed, "approval/changed")
	a.Answer <- object{"decision": "reject"}
	testrig.Wait(t, done, "the result")
	check.Same(t, "the buffer", e.Buffer("app.py").Text, "# typed while it was open\n"+app)
}

// TestTheFileIsOpenedWhileTheDialogIsOpen: nothing in it has changed, and yet the
// edit must go another way.
func TestTheFileIsOpenedWhileTheDialogIsOpen(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	a, done := e.Ask("edit_file", edit)
	e.Open("app.py")
	r := answered(t, a, done, yes)
	if b := e.Buffer("app.py"); r.IsError || !strings.Contains(b.Text, "round(") || b.Dirty || e.Read("app.py") != b.Text {
		t.Errorf("result %v, buffer %+v", r.StructuredContent, b)
	}
}

func sessionChoice(a *testrig.Approval) object {
	decisions, _ := a.Params["decisions"].([]any)
	for _, d := range decisions {
		if d := d.(object); d["scope"] == "session" {
			return d
		}
	}
	return nil
}

func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	failed := begin(ctx, e, "edit_file", edit)
	a := testrig.Wait(t, e.Approvals, "the dialog")
	cancel()
	testrig.Wait(t, a.Ctx.Done(), "the end of the dialog")
	check.Has(t, "approval/resolved", string(testrig.Wait(t, e.Resolved, "approval/resolved")), `"withdrawn"`)
	answered(t, a, failed, yes)
	check.Same(t, "a late answer changed the file", e.Call("read_file", object{"path": "app.py"}).StructuredContent["content"], app)
}

func TestDialogsThatNeverComeBackBlockNobody(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	const waiting = 100 // more than there are workers
	for i := range waiting {
		begin(t.Context(), e, "write_file", object{"path": fmt.Sprint("new", i), "content": "x"}) // it never returns
	}
	ids := map[string]bool{}
	for range waiting {
		ids[testrig.Wait(t, e.Approvals, "a dialog").Text("approvalId")] = true
	}
	if len(ids) != waiting {
		t.Errorf("%d ids for %d dialogs", len(ids), waiting)
	}
	check.Same(t, "read_file", e.Call("read_file", object{"path": "app.py"}).StructuredContent["content"], app)
}

func TestAnAnswerThatIsNoneDenies(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	for name, answer := range map[string]any{
		"an unknown decision": object{"decision": "sure"},
		"no decision":         object{},
		"a foreign digest":    object{"decision": "edit", "after": object{"app.py": "x"}, "digest": "0000"},
		"a foreign file":      object{"decision": "edit", "after": object{"other.py": "x"}},
		"an empty edit":       object{"decision": "edit"},
		"a text":              "approve",
		"no text of a file":   object{"decision": "edit", "after": object{"app.py": nil}},
		"numbers for hunks":   object{"decision": "approve", "selected": []int{1}},
		"a foreign hunk":      object{"decision": "approve", "selected": []string{"1", "6"}},
		"a zero before it":    object{"decision": "approve", "selected": []string{"01"}},
		"a file for a hunk":   object{"decision": "approve", "selected": []string{"app.py"}},
		"an empty hunk":       object{"decision": "approve", "selected": []string{""}},
		"a foreign choice":    object{"decision": "approve", "decisionId": "full"},
		"a capital letter":    object{"Decision": "approve"},
		"two decisions":       json.RawMessage(`{"decision": "reject", "Decision": "approve"}`),
	} {
		done := e.Start("edit_file", edit)
		testrig.Wait(t, e.Approvals, "the dialog").Answer <- answer
		if r := testrig.Wait(t, done, "the result"); !r.IsError || r.Code() == "EXECUTION_FAILED" || e.Read("app.py") != app {
			t.Errorf("%s: result %v, on disk %q", name, r.StructuredContent, e.Read("app.py"))
		}
	}
}

func TestToolsApprovalDoesNothing(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Settings: object{"permissions": object{"allow": []string{"create_directory", "run_command(ls)"}}}})
	for _, c := range []struct {
		tool     string
		args     object
		want     string
		sentence any
	}{
		{"read_file", object{"path": "app.py"}, "run", "Read file: path app.py."},
		{"search_in_project", object{"query": "def"}, "run", "Search in project: query def."},
		{"prompt_user", object{"message": "Which?", "actions": []string{"left"}}, "run", `Ask the user: actions ["left"], message Which?.`},
		{"list_processes", object{}, "run", "List processes."},
		{"create_directory", object{"path": "new"}, "run", "Create the folder new."},
		{"run_command", object{"command": "ls"}, "run", "Run ls."},
		{"edit_file", edit, "ask", "Edit app.py."},
		{"write_file", object{"path": ".git/config", "content": "x"}, "refuse", nil},
		{"no_such", object{}, "refuse", nil},
	} {
		var need object
		e.Must("tools/approval", object{"name": c.tool, "arguments": c.args}, &need)
		check.Same(t, c.tool, need["sentence"], c.sentence)
		if need["decision"] != c.want || (c.want == "ask") != (need["preview"] != nil) {
			t.Errorf("%s: %v", c.tool, need)
		}
	}
	if e.Read("app.py") != app || len(e.Approvals) != 0 {
		t.Error("tools/approval did something")
	}
}

func TestRequiresApprovalAlwaysAsks(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Settings: object{"permissions": object{"allow": []string{"edit_file"}}}})
	if r := e.Call("edit_file", edit); r.IsError {
		t.Fatalf("an allowed edit: %v", r.StructuredContent)
	}
	result := make(chan error, 1)
	go func() {
		result <- e.Conn.Call(t.Context(), "tools/call", object{
			"name": "write_file", "requiresApproval": true, "arguments": object{"path": "n", "content": ""},
		}, nil)
	}()
	if err := asked(t, e, result, no); err != nil {
		t.Error(err)
	}
}

func TestChangesOfABufferApplyInOrder(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Write("log.txt", "")
	e.Open("log.txt")
	var want strings.Builder
	for i := range 300 {
		line := fmt.Sprintf("line %d\n", i)
		e.Type("log.txt", at(uint32(i), 0), line)
		want.WriteString(line)
		if i%50 == 0 {
			if r := e.Call("read_file", object{"path": "log.txt"}); r.StructuredContent["content"] != want.String() {
				t.Fatalf("after %d changes: %v", i, r.StructuredContent["content"])
			}
		}
	}
	r := e.Call("read_file", object{"path": "log.txt"})
	if r.StructuredContent["content"] != want.String() || r.StructuredContent["source"] != "buffer" {
		t.Errorf("read_file gave %v", r.StructuredContent)
	}
}

func TestAnEditorThatNeverAppliesIsNotBelieved(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.OnEdit = func(json.RawMessage) (any, error) { return object{"applied": true, "version": 1, "dirty": false}, nil }
	asked(t, e, e.Start("edit_file", edit), yes).Want(t, "EXECUTION_FAILED") // a lie is not believed
}

func TestTheWindowClosesWithADialogOpen(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	begin(t.Context(), e, "edit_file", edit) // the window closes
	testrig.Wait(t, e.Approvals, "the dialog")
	e.Stop()
	wantText(t, e, "app.py", app)
	if _, err := os.Stat(filepath.Join(e.Dir, ".pillion")); !errors.Is(err, os.ErrNotExist) {
		t.Error("something was left in the workspace")
	}
	var closed *wire.Error
	if err := e.Conn.Call(t.Context(), "tools/list", object{}, nil); errors.As(err, &closed) {
		t.Errorf("the connection lives on: %v", err)
	}
}

// TestAnEditedCommandIsShownAgain with what there is to say of it, before it can be approved.
func TestAnEditedCommandIsShownAgain(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	first, done := e.Ask("run_command", object{"command": "echo one"})
	mine := object{"command": "echo one > out.txt"}
	first.Answer <- object{"decision": "edit", "modifiedArguments": mine, "digest": first.Text("digest")}
	check.Has(t, "its end", string(testrig.Wait(t, e.Resolved, "its end")), `"outcome":"superseded"`)
	second := testrig.Wait(t, e.Approvals, "the user's command")
	said := map[any]any{}
	for _, fact := range second.Params["preview"].(object)["facts"].([]any) {
		said[fact.(object)["label"]] = fact.(object)["text"]
	}
	if said["Writes"] != "out.txt" || said["Edited"] == nil || second.Params["arguments"].(object)["command"] != mine["command"] {
		t.Errorf("shown again is %v", second.Params)
	}
	if _, err := os.Stat(filepath.Join(e.Dir, "out.txt")); err == nil {
		t.Error("it ran before it was approved")
	}
	second.Answer <- object{"decision": "approve", "digest": second.Text("digest")}
	if r := testrig.Wait(t, done, "the result"); r.IsError || r.StructuredContent["edited_by_human"] != true {
		t.Errorf("result: %v", r.StructuredContent)
	}
	if _, calls := audited(t, e); len(calls) != 1 || calls[0].Answer != "edit" {
		t.Errorf("the audit log has %+v", calls)
	}
}

// TestAMergedResultIsShownAsSuch: what the user typed since the agent read the file stays,
// the dialog says so, and the yes of the user is for both changes together.
func TestAMergedResultIsShownAsSuch(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	if r := e.Call("read_file", object{"path": "app.py"}); r.IsError {
		t.Fatal(r.Text())
	}
	typed := "# typed\n" + app
	e.Type("app.py", document.Range{}, "# typed\n")
	a, done := e.Ask("write_file", object{"path": "app.py", "content": strings.Replace(app, "[1, 2]", "[1, 2, 3]", 1)})
	want := strings.Replace(typed, "[1, 2]", "[1, 2, 3]", 1)
	if a.File("merged") != true || a.File("after") != want || a.File("before") != typed {
		t.Errorf("the dialog: merged %v, %q", a.File("merged"), a.File("after"))
	}
	r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	if r.StructuredContent["merged"] != true || e.Buffer("app.py").Text != want || e.Read("app.py") != app {
		t.Errorf("merged %v, in the buffer %q", r.StructuredContent["merged"], e.Buffer("app.py").Text)
	}
}
