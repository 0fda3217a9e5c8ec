package test

import (
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
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(entries[0]) // written before relay/info was even looked at
	if err != nil || !strings.Contains(string(text), `"`+real+`"`) {
		t.Errorf("the registry does not know the added folder: %s %v", text, err)
	}
}
