package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// An agent that starts in a folder which was added to the window has to find it,
// without waiting for the human to look at that window.
func TestAddedFoldersAreRegisteredForAgents(t *testing.T) {
	e := spawn(t, testrig.Options{})
	added := t.TempDir()
	e.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{
		"added": []any{object{"uri": testrig.URI(added), "name": "added"}}, "removed": []any{},
	}})
	var info struct{ Socket string }
	e.Must("relay/info", object{}, &info)
	entry := strings.TrimSuffix(info.Socket, ".sock") + ".json"
	real, err := filepath.EvalSymlinks(added)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(entry) // written before relay/info was even looked at
	if err != nil || !strings.Contains(string(text), `"`+real+`"`) {
		t.Errorf("the registry does not know the added folder: %s %v", text, err)
	}
}
