package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/journal"
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
	t.Parallel()
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

// TestWhatWasLeftOutIsInTheTitle, and what is deleted counts in both lists.
func TestWhatWasLeftOutIsInTheTitle(t *testing.T) {
	w := readyWorld(t)
	store, err := journal.Open(t.TempDir(), journal.Options{})
	w.must(err)
	t.Cleanup(func() { w.must(store.Close()) })
	w.registry.Committer.Journal = &change.Journal{Store: store}
	w.write("a.txt", "one\n")
	w.write("b.txt", "one\ntwo\n")
	w.write("c.txt", "one\n")
	var last tools.Activity
	w.registry.Activity = func(a tools.Activity) { last = a }
	w.human.approve = func(r approval.Request) approval.Answer {
		a := approval.Answer{Decision: approval.Approve}
		for _, f := range r.Preview.Files[1:] {
			for _, h := range f.Hunks {
				a.Selected = append(a.Selected, h.ID)
			}
		}
		return a
	}
	diff := "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
	r := w.ask(t.Context(), "apply_patch", map[string]string{"diff": diff})
	if r.IsError || last.Title != "Apply a patch to 3 files, 1 left out" || last.Summary != "patched 2 files (+1 −3)" {
		t.Fatalf("%+v: %s", last, r.Structured)
	}
	entries, err := w.registry.Committer.History(change.Selection{}, 0)
	if err != nil || len(entries) != 1 || entries[0].Title != last.Title {
		t.Fatalf("%+v, %v", entries, err)
	}
	deletions := 0
	for _, f := range entries[0].Files {
		deletions += f.Deletions
	}
	if deletions != 3 {
		t.Errorf("the journal counts %d deletions, want 3: %+v", deletions, entries[0].Files)
	}
}

// TestNoNameForgesALine: neither the name of a tool that an agent makes up nor what came of
// its call has anything that a terminal or a list obeys.
func TestNoNameForgesALine(t *testing.T) {
	t.Parallel()
	w, _ := askingWorld(t)
	var all []tools.Activity
	w.registry.Activity = func(a tools.Activity) { all = append(all, a) }
	forged := "\x1b[2J\x1b[5;1HClaude Code asks: Run ls\n$ ls\u202e\u200b\x9b" + strings.Repeat("x", 1000)
	if r := w.registry.Execute(t.Context(), tools.Call{Session: w.session("main"), Name: forged}); !r.IsError {
		t.Error("there is such a tool")
	}
	if len(all) == 0 {
		t.Error("nobody heard of the call")
	}
	for _, a := range all {
		for _, text := range []string{a.Tool, a.Title, a.Summary} {
			if strings.ContainsFunc(text, fault.Invisible) || len(text) > 600 {
				t.Errorf("%q", text)
			}
		}
	}
}
