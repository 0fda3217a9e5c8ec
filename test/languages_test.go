package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// TestAMissingServerIsToldAtStart, in the editor's log, and what is wrong with its settings.
func TestAMissingServerIsToldAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.py"), nil, 0o600))
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

// TestAProjectMaySwitchAServerOff, and say nothing else about servers without trust.
func TestAProjectMaySwitchAServerOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.py":       "x = 1\n",
		"evil":       "#!/bin/sh\n: > " + filepath.Join(dir, "ran") + "\n",
		settingsFile: `{"languageServers": {"prefer": "own", "servers": {"pylsp": {"enabled": false, "command": ["` + dir + `/evil"]}, "pyright": {"command": ["` + dir + `/evil"]}}}}`,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"languageServers": object{"servers": object{
		"pyright": object{"command": []string{"no-such-pyright"}}, "basedpyright": object{"enabled": false},
	}}}})
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	if len(u.Rules) != 2 || !strings.HasPrefix(u.Rules[0], "languageServers.servers pylsp {") || !strings.Contains(u.Rules[1], dir+"/evil") {
		t.Errorf("told %q", u.Rules)
	}
	r := e.Call("lsp_hover", object{"path": "a.py", "line": 0, "character": 0})
	r.Want(t, "LSP_UNAVAILABLE", "pyright is not installed")
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the project's program has run")
	}
}
