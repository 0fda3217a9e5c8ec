package test

import (
	"bytes"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/workspace/document"
)

// TestACallThroughTheEditor sees its unsaved text and asks in it, as an agent's does.
func TestACallThroughTheEditor(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Type("app.py", document.Range{}, "# unsaved\n")
	e.Call("read_file", object{"path": "app.py"}) // which comes behind what was typed; the calls below come another way
	call := func(args ...string) (out string, err error) {
		command := commandOf(e, append([]string{"call", "--editor"}, args...)...)
		var printed bytes.Buffer
		command.Stdout, command.Stderr = &printed, &printed
		err = command.Run()
		return printed.String(), err
	}
	if out, err := call("read_file", `{"path": "app.py"}`); err != nil || !strings.Contains(out, "# unsaved\n") {
		t.Errorf("%v: %s", err, out)
	}
	done := make(chan error, 1)
	go func() { _, err := call("write_file", `{"path": "new.txt", "content": "x"}`); done <- err }()
	a := testrig.Wait(t, e.Approvals, "the editor's dialog")
	if name := a.Params["agent"].(map[string]any)["name"]; name != "pillion call" {
		t.Errorf("%v asks", name)
	}
	a.Answer <- object{"decision": "approve"}
	if err := testrig.Wait(t, done, "the call"); err != nil || e.Read("new.txt") != "x" {
		t.Errorf("%v: new.txt has %q", err, e.Read("new.txt"))
	}
	if out, err := call("-C", t.TempDir(), "read_file", `{"path": "app.py"}`); err == nil || !strings.Contains(out, "no editor") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := call("--yes", "list_files"); err == nil {
		t.Errorf("--yes answers in the editor: %s", out)
	}
}
