package test

import (
	"strings"
	"testing"

	"pillion/internal/testrig"
)

const onlyReads = `{"agents": {"*": {"tools": ["read_file"]}}}`

// TestToolsThatAProjectTakesAway: it needs no trust for that, and gives nothing.
func TestToolsThatAProjectTakesAway(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"agents": object{"*": object{"tools": []string{"read_file", "write_file", "no_such"}}}}})
	listed := func() string {
		var list struct{ Tools []struct{ Name string } }
		e.Must("tools/list", object{}, &list)
		var names []string
		for _, one := range list.Tools {
			names = append(names, one.Name)
		}
		return strings.Join(names, " ")
	}
	if got := listed(); got != "read_file write_file" {
		t.Errorf("by the user's settings: %s", got)
	}
	if r := e.Call("glob", object{"pattern": "*"}); r.Code() != "TOOL_NOT_FOUND" {
		t.Errorf("%v", r.StructuredContent)
	}
	e.Write(settingsFile, `{"agents": {"*": {"tools": ["all"]}}}`)
	if got := listed(); got != "read_file write_file" {
		t.Errorf("a project turned on %s", got)
	}
	e.Write(settingsFile, onlyReads)
	if got := listed(); got != "read_file" {
		t.Errorf("a project took nothing away: %s", got)
	}
	wantDecision(t, e, "write_file", write, "refuse")
}

// TestAToolIsTakenAwayWhileItAsks: a yes is none then.
func TestAToolIsTakenAwayWhileItAsks(t *testing.T) {
	t.Parallel()
	for tool, arguments := range map[string]object{"write_file": write, "run_command": {"command": "echo hi >notes.txt"}} {
		e := spawn(t, testrig.Options{})
		done := e.Start(tool, arguments)
		a := testrig.Wait(t, e.Approvals, "the dialog")
		e.Write(settingsFile, onlyReads)
		a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
		r := testrig.Wait(t, done, "the result")
		if message := r.Text(); r.Code() != "TOOL_NOT_FOUND" || !strings.Contains(message, "unknown tool: "+tool) || !strings.Contains(message, "agents.*.tools") || e.Read("notes.txt") != "" {
			t.Errorf("%s: %v", tool, r.StructuredContent)
		}
	}
}
