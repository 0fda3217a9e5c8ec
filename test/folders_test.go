package test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// An agent that starts in a folder which was added to the window has to find it,
// without waiting for the user to look at that window.
func TestAddedFoldersAreRegisteredForAgents(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	added := t.TempDir()
	e.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{
		"added": []any{object{"uri": testrig.URI(added), "name": "added"}}, "removed": []any{},
	}})
	e.Must("relay/info", object{}, nil)
	entries, err := filepath.Glob(filepath.Join(e.Home, ".local/state/pillion/relay/*.json"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the registry holds %v, want one entry: %v", entries, err)
	}
	real, err := filepath.EvalSymlinks(added)
	must(t, err)
	text, err := os.ReadFile(entries[0]) // written before relay/info was even looked at
	if err != nil || !strings.Contains(string(text), `"`+real+`"`) {
		t.Errorf("the registry does not know the added folder: %s %v", text, err)
	}
}

// TestAWorkspaceFolderThatWasReplaced: neither files nor commands go to the one or the other
// until the editor says which.
func TestAWorkspaceFolderThatWasReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "app")
	must(t, os.Mkdir(dir, 0o755))
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"mode": "auto_edit"}})
	write := func(name string) testrig.Result { return e.Call("write_file", object{"path": name, "content": "x"}) }
	dialog, waiting := e.Ask("run_command", object{"command": "touch b.txt"})
	if r := write("a.txt"); r.IsError {
		t.Fatalf("at first: %v", r.StructuredContent)
	}
	must(t, errors.Join(os.Rename(dir, dir+".moved"), os.Mkdir(dir, 0o755)))
	dialog.Answer <- object{"decision": "approve", "digest": dialog.Text("digest")}
	for _, r := range []testrig.Result{testrig.Wait(t, waiting, "the result"), write("a.txt"), e.Call("run_command", object{"command": "touch c.txt"}), e.Call("read_file", object{"path": "a.txt"})} {
		r.Want(t, "CONCURRENT_MODIFICATION") // replaced
	}
	if names, _ := filepath.Glob(dir + "/*"); len(names) > 0 {
		t.Errorf("done in the new one: %q", names)
	}
	folder := object{"uri": testrig.URI(dir), "name": "app"}
	e.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []any{folder}, "removed": []any{folder}}})
	write("d.txt").Want(t, "") // opened again
	wantText(t, e, "d.txt", "x")
}
