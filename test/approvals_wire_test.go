package test

import (
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
)

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
