package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pillion/tools"
	"pillion/tools/policy"
)

// TestActivityNamesWhatACallIsAbout: its title, its file, and whether there is more to show.
func TestActivityNamesWhatACallIsAbout(t *testing.T) {
	w, _ := askingWorld(t)
	var last tools.Activity
	w.registry.Activity = func(a tools.Activity) { last = a }
	w.must(w.session("main").SetMode(policy.AutoEdit))
	for _, c := range []struct{ tool, arguments, title, path, shows string }{
		{"read_file", `{"path": "a.py"}`, "Read a.py", "a.py", ""},
		{"edit_file", `{"path": "a.py", "old_string": "os", "new_string": "sys"}`, "Edit a.py", "a.py", "diff"},
		{"edit_file", `{"path": "a.py", "old_string": "nowhere", "new_string": "sys"}`, "Edit file: a.py", "a.py", ""},
	} {
		w.ask(t.Context(), c.tool, c.arguments)
		if last.Title != c.title || last.Path != c.path || last.Shows != c.shows || last.Started.IsZero() {
			t.Errorf("%s %s: %+v, want %+v", c.tool, c.arguments, last, c)
		}
		if d := w.registry.Show(last.SessionID, last.CallID); (d == nil) != (c.shows == "") || d != nil && d.Kind != c.shows {
			t.Errorf("%s %s shows %+v, want %q", c.tool, c.arguments, d, c.shows)
		}
	}
}

// TestWhatCallsShowIsBounded: of many and large ones the latest are kept.
func TestWhatCallsShowIsBounded(t *testing.T) {
	w, _ := askingWorld(t)
	var last tools.Activity
	w.registry.Activity = func(a tools.Activity) { last = a }
	w.must(w.session("main").SetMode(policy.AutoEdit))
	write := func(id string, size int) {
		arguments := fmt.Sprintf(`{"path": "large.txt", "content": %q}`, strings.Repeat(id[:1], size))
		r := w.registry.Execute(t.Context(), tools.Call{Session: w.session("main"), CallID: id, Name: "write_file", Arguments: json.RawMessage(arguments)})
		if r.IsError {
			t.Fatalf("%s", r.Structured)
		}
	}
	kept := func(id string) bool { return w.registry.Show(last.SessionID, id) != nil }
	write("a", 100)
	for i := range 5 {
		write(fmt.Sprint(i), 2<<20) // each with the text before it, and a diff of the two
	}
	if kept("a") || kept("0") || !kept("4") {
		t.Errorf("kept: a %t, 0 %t, 4 %t; want only the latest", kept("a"), kept("0"), kept("4"))
	}
}
