package tools_test

import (
	"testing"

	"pillion/tools"
	"pillion/tools/policy"
)

// TestWhatRunsNextIsMarkedInTheList: first in its line, by whatever tool.
func TestWhatRunsNextIsMarkedInTheList(t *testing.T) {
	w := readyWorld(t)
	shown := ""
	w.registry.Activity = func(a tools.Activity) { shown = a.Summary }
	w.must(w.session("main").SetMode(policy.AutoEdit))
	w.session("main").GrantOnce("runs(Makefile)", "runs(web/package.json)", "runs(a.mk)", "runs(b.mk)", "runs(c.mk)")
	for _, c := range []struct{ tool, arguments, want string }{
		{"write_file", `{"path": "Makefile", "content": "all:\n"}`, "runs when you next use make: Makefile +1 −0"},
		{"write_file", `{"path": "Makefile", "content": "all:\n"}`, "Makefile +0 −0"},
		{"write_file", `{"path": "a.txt", "content": "all:\n"}`, "a.txt +1 −0"},
		{"move_file", `{"from": "a.txt", "to": "web/package.json"}`, "runs when you next use npm: Move a.txt to web/package.json"},
		{"apply_patch", `{"diff": "--- /dev/null\n+++ b/a.mk\n@@ -0,0 +1 @@\n+a\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n"}`, "a.mk runs when you next use make: patched 2 files (+2 −0)"},
		{"apply_patch", `{"diff": "--- a/a.mk\n+++ b/a.mk\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/b.mk\n@@ -0,0 +1 @@\n+b\n--- /dev/null\n+++ b/c.mk\n@@ -0,0 +1 @@\n+b\n"}`, "3 files run with your next commands: patched 3 files (+3 −1)"},
	} {
		if r := w.ask(t.Context(), c.tool, c.arguments); r.IsError || shown != c.want {
			t.Errorf("%s %s: %q, want %q: %s", c.tool, c.arguments, shown, c.want, r.Structured)
		}
	}
}
