//go:build unix

package rpc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pillion/tools/approval"
)

// TestWhoIsAwayIsNotified, by a program of the system, whose words are the agent's without
// what could steer it; whoever is there is not.
func TestWhoIsAwayIsNotified(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + said + "\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	folders := systemFolders
	systemFolders = []string{dir}
	t.Cleanup(func() { systemFolders = folders })
	s := &server{core: &Core{Focused: func() {}}, state: running}
	d := newDialogs(s, client{})
	here := func(params string) {
		t.Helper()
		if _, err := s.focused(t.Context(), json.RawMessage(params)); err != nil {
			t.Fatal(err)
		}
	}
	for _, params := range []string{`{}`, `{"focused": true}`} {
		here(`{"focused": false}`)
		here(params)
		d.notifyAway(approval.Agent{Name: "claude"}, "wants somebody who is there")
	}
	here(`{"focused": false}`)
	d.notifyAway(approval.Agent{Name: "claude\x1b"}, "wants to --run \u202e")
	got, err := os.ReadFile(said) // when it has been said
	if want := "--app-name=Pillion\n--\nPillion\nclaude\\x1b wants to --run \\u202e\n"; err != nil || string(got) != want {
		t.Errorf("said %q: %v", got, err)
	}
}
