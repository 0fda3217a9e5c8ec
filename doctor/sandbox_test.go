package doctor

import (
	"errors"
	"strings"
	"testing"

	"pillion/config"
	"pillion/tools/process"
)

func TestSandbox(t *testing.T) {
	absent := process.Wall{Why: "it is not installed"}
	none := process.Walls{Level: process.None, Bubblewrap: absent, Landlock: process.Wall{Why: "this kernel has none"}}
	landlock := process.Walls{Level: process.Landlock, Bubblewrap: absent, Landlock: process.Wall{Works: true}, ABI: 7, Offline: true}
	bubblewrap := process.Walls{Level: process.Bubblewrap, Bubblewrap: process.Wall{Path: "/usr/bin/bwrap", Works: true}, Layers: process.Wall{Why: "it cannot"}}
	layered := bubblewrap
	layered.Layers = process.Wall{Works: true}
	for name, c := range map[string]struct {
		walls   process.Walls
		setting string
		status  Status
		detail  string
		hint    string
	}{
		"bubblewrap":         {layered, "", OK, "under bubblewrap (tested)", ""},
		"no layers":          {bubblewrap, "", OK, "in mode auto they ask, since no layer can be mounted over the workspace: it cannot", ""},
		"Landlock":           {landlock, "prefer", Missing, "Landlock alone", "bubblewrap protects more: it is not installed"},
		"nothing":            {none, "", Missing, "run with all your rights. bubblewrap: it is not installed; Landlock: this kernel has none", "Debian"},
		"nothing, required":  {none, "require", Error, "no command runs", "prefer"},
		"Landlock, required": {landlock, "require", Missing, "under Landlock", "bubblewrap"},
		"switched off":       {bubblewrap, "off", Info, "all your rights", ""},
	} {
		f := sandboxFinding(c.walls, config.Settings{Sandbox: c.setting})
		if f.Status != c.status || !strings.Contains(f.Detail, c.detail) || !strings.Contains(f.Hint, c.hint) || (c.hint == "") != (f.Hint == "") || f.Data["level"] != string(c.walls.Level) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestEscapesAreTold(t *testing.T) {
	tried := []process.Escape{{Way: "leave", Closed: true, Due: true}, {Way: "look", Closed: false}}
	held := Finding{Status: OK, Detail: "held", Data: map[string]any{}}
	f := held
	tellEscapes(&f, tried, nil)
	if f.Status != OK || f.Detail != "held; 1 of 2 ways out are closed. A command can look" {
		t.Errorf("%+v", f)
	}
	tried[1].Due = true
	for name, err := range map[string]error{"open": nil, "not tried": errors.New("no home")} {
		f = held
		tellEscapes(&f, tried, err)
		if f.Status != Error || f.Hint == "" || err == nil && !strings.Contains(f.Detail, "although it should not, look") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// The report tells what was tried, and nothing that was not.
func TestSandboxIsTried(t *testing.T) {
	p := newPlace(t)
	if f := finding(t, p.examine(t), "system.sandbox"); f.Status != Info || f.Detail != "not tried" {
		t.Errorf("%+v", f)
	}
}
