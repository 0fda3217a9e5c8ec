package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// TestAMissingServerIsToldAtStart, in the editor's log, and what is wrong with its settings.
func TestAMissingServerIsToldAtStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	off := object{"enabled": false}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"languageServers": object{"servers": object{
		"pyright": off, "basedpyright": off, "pylsp": object{"command": []string{"no-such-pylsp"}, "install": "get it"},
		"newer": object{"languages": []string{"python"}},
	}}}})
	heard := func(want string) {
		t.Helper()
		for {
			if told := testrig.Wait(t, e.Logs, want); strings.Contains(told, want) {
				return
			}
		}
	}
	heard("languageServers.servers.newer is ignored")
	heard("[LSP] python: pylsp is not installed; run: get it")
}
