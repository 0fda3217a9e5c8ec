package test

import (
	"path/filepath"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// modeOf opens a session, or looks at one that is open.
func modeOf(e *testrig.Editor, session string) string {
	info := ask[struct{ Mode string }](e, "session/open", object{"sessionId": session})
	return info.Mode
}

// TestModesInSettings: sessions start in them; full_access cannot come from any
// settings, not even from a project's that are trusted.
func TestModesInSettings(t *testing.T) {
	t.Parallel()
	told := spawn(t, testrig.Options{})
	for set, want := range map[string]string{"plan": "plan", "default": "default", "auto_edit": "auto_edit", "full_access": "default", "": "default"} {
		t.Run(set, func(t *testing.T) {
			e := spawn(t, testrig.Options{Settings: object{"mode": set}})
			check.Same(t, "by initializationOptions", modeOf(e, "one"), want)
			told.Notify("workspace/didChangeConfiguration", object{"settings": object{"pillion": object{"mode": set}}})
			check.Same(t, "by didChangeConfiguration", modeOf(told, "in "+set), want)
			home := t.TempDir()
			put(t, filepath.Join(home, ".config", "pillion", "settings.json"), `{"mode": "`+set+`"}`)
			e = spawn(t, testrig.Options{Home: home})
			check.Same(t, "by the user's own file", modeOf(e, "one"), want)
		})
	}
}

func TestFullAccessInAProjectIsNotEvenAsked(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write(settingsFile, `{"mode": "full_access", "permissions": {"allow": ["write_file(a)"]}}`)
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	if len(u.Rules) != 1 {
		t.Errorf("asked for: %q", u.Rules)
	}
	e.Must("settings/trust", object{"path": u.Path, "hash": u.Hash}, nil)
	check.Same(t, "a session starts in", modeOf(e, "one"), "default")
}

// TestFullAccessIsOfOneSession: of no other, of no later one, and of none after a
// restart.
func TestFullAccessIsOfOneSession(t *testing.T) {
	t.Parallel()
	for name, choose := range map[string]func(e *testrig.Editor){
		"plugin": func(e *testrig.Editor) {
			e.Must("session/setMode", object{"sessionId": "one", "mode": "full_access"}, nil)
		},
		"command": func(e *testrig.Editor) { must(t, execute(e, "pillion.setMode", "full_access", "one")) },
	} {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, testrig.Options{Plain: name == "command"})
			modeOf(e, "one")
			modeOf(e, "two")
			choose(e)
			for session, want := range map[string]string{"one": "full_access", "two": "default", "three": "default"} {
				check.Same(t, session+" is in", modeOf(e, session), want)
			}
			e.Stop()
			e = spawn(t, testrig.Options{Home: e.Home, Dirs: []string{e.Dir}, Plain: name == "command"})
			check.Same(t, "after a restart", modeOf(e, "one"), "default")
		})
	}
}

func execute(e *testrig.Editor, command string, args ...any) error {
	_, err := e.Execute(command, args...)
	return err
}
