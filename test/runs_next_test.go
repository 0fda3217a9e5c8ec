package test

import (
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestWhatRunsNext: in auto_edit the first write to such a file asks, with the reason in
// plain words; the yes holds for that file and session, and every change of it is marked.
func TestWhatRunsNext(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("Makefile", "all:\n")
	write := func(id, session, path, text string) (*testrig.Approval, <-chan testrig.Result) {
		return askedOrDone(e, object{"name": "write_file", "arguments": object{"path": path, "content": text}, "callId": id, "sessionId": session})
	}
	answered := func(what string, asked *testrig.Approval, done <-chan testrig.Result, decision, code string) {
		t.Helper()
		if asked == nil {
			t.Fatalf("%s: nobody was asked", what)
		}
		if r := answered(t, asked, done, object{"decision": decision}); r.Code() != code {
			t.Errorf("%s: %+v", what, r)
		}
	}

	asked, done := write("one", "ada", "Makefile", "all:\n\ttrue\n")
	if asked == nil {
		t.Fatal("nobody was asked")
	}
	reasons, _ := asked.Params["reasons"].([]any)
	if reason, _ := reasons[0].(object); reason["code"] != "runs_next" || reason["text"] != "Makefile runs when you next use make" {
		t.Errorf("it asks because %v", reasons)
	}
	decisions, _ := asked.Params["decisions"].([]any)
	if yes, _ := decisions[1].(object); yes["meaning"] != "for this session, without asking about this file again" {
		t.Errorf("a yes: %v", yes)
	}
	answered("the first", asked, done, "approve", "")

	if asked, done = write("two", "ada", "Makefile", "all:\n\tfalse\n"); asked != nil {
		t.Fatalf("asked again: %v", asked.Params)
	}
	testrig.Wait(t, done, "the result")
	asked, done = write("three", "ada", "package.json", "{}\n")
	answered("another file", asked, done, "reject", "USER_REJECTED")
	asked, done = write("four", "eve", "Makefile", "all:\n")
	answered("another session", asked, done, "reject", "USER_REJECTED")
	if asked, _ = write("five", "ada", "a.txt", "a\n"); asked != nil {
		t.Fatalf("asked for an ordinary file: %v", asked.Params)
	}

	var list struct {
		Entries []struct {
			CallID string
			Files  []struct{ Path, Note string }
		}
	}
	e.Must("journal/list", object{"sessionId": "ada"}, &list)
	var got []string
	for _, entry := range list.Entries {
		got = append(got, entry.CallID+" "+entry.Files[0].Note)
	}
	check.Same(t, "the journal has", strings.Join(got, ", "), "five , two runs when you next use make, one runs when you next use make")
}
