package test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestMemory: the user's memory file is outside the workspace, and a change of it is asked
// about, listed and reverted as any other; open in the editor, it is changed there.
func TestMemory(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	file := filepath.Join(e.Home, ".config", "pillion", "PILLION.md")
	name, err := filepath.Rel(e.Dir, file)
	must(t, err)
	remember := func(id, fact string) testrig.Result {
		a, done := askedOrDone(e, object{"name": "save_memory", "arguments": object{"fact": fact}, "callId": id, "sessionId": "ada"})
		if a.File("path") != "~/.config/pillion/PILLION.md" || a.File("uri") != testrig.URI(file) {
			t.Errorf("the dialog shows %v at %v", a.File("path"), a.File("uri"))
		}
		return answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	}
	if r := remember("first", "one"); r.StructuredContent["added"] != true || r.StructuredContent["path"] != file || e.Read(name) != "## Agent memories\n\n- one\n" {
		t.Errorf("%v, and the file holds %q", r.StructuredContent, e.Read(name))
	}
	e.Open(name)
	e.Type(name, at(0, 0), "# Mine\n")
	remember("second", "two")
	check.Same(t, "the buffer", e.Buffer(name).Text, "# Mine\n## Agent memories\n\n- one\n- two\n")
	check.Same(t, "what was not saved is on disk", e.Read(name), "## Agent memories\n\n- one\n")
	r := revert(e, object{"callId": "second"})
	r.want(t, []string{"~/.config/pillion/PILLION.md"}, []string{}, []string{})
	check.Same(t, "after the revert the buffer", e.Buffer(name).Text, "# Mine\n## Agent memories\n\n- one\n")
	e.Notify("textDocument/didClose", object{"textDocument": object{"uri": testrig.URI(file)}})
	r = revert(e, object{"callId": "first"})
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v, %+v", err, r)
	}
	check.Has(t, "pillion journal", pillion(t, e, "journal", "-C", e.Dir), "Remember in ~/.config/pillion/PILLION.md")
}
