//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/agents/install"
)

// set up as `pillion mcp install` does it
func (p machine) install(t *testing.T, agent, binary, scope string) {
	t.Helper()
	plan, err := install.For(agent, install.Options{Binary: binary, Project: p.project, Home: p.home, Getenv: os.Getenv, Scope: scope})
	must(t, err)
	must(t, plan.Apply())
}

func (p machine) pillion(t *testing.T) string {
	return write(t, filepath.Join(p.home, "bin", "pillion"), "", 0o755)
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s: %s, %v", path, old, text, err)
	}
	write(t, path, strings.Replace(string(text), old, new, 1), 0o600)
}

// What to do names a command that the user has: the program that came with an editor is not
// on PATH.
func TestRemediesCanBeRun(t *testing.T) {
	p := newPlace(t)
	p.script(t, "claude", "echo 2.1.0")
	t.Setenv("PATH", p.bin)
	if f := finding(t, p.examine(t), "agent.claude"); f.Hint != "~/bin/pillion mcp install claude" {
		t.Errorf("%+v", f)
	}
	p.script(t, "pillion", "")
	if f := finding(t, p.examine(t), "agent.claude"); f.Hint != "pillion mcp install claude" {
		t.Errorf("%+v", f)
	}
}

func TestAgents(t *testing.T) {
	settings := func(p machine) string { return filepath.Join(p.home, ".claude", "settings.json") }
	for _, c := range []struct {
		name   string
		do     func(t *testing.T, p machine)
		status Status
		detail string // how it ends
		hint   string
	}{
		{"not set up", func(*testing.T, machine) {}, Warning, "2.1.329, BIN/claude; Pillion is not set up in it, so it edits and runs commands unseen", "pillion mcp install claude"},
		{"set up", func(t *testing.T, p machine) { p.install(t, "claude", p.pillion(t), install.User) }, OK, "; Pillion is set up in it, for all your projects; its own edit and shell tools are off", ""},
		{"for the project", func(t *testing.T, p machine) { p.install(t, "claude", p.pillion(t), install.Project) }, OK, "; Pillion is set up in it, for this project; its own edit and shell tools are off", ""},
		{"a tool on again", func(t *testing.T, p machine) {
			p.install(t, "claude", p.pillion(t), install.User)
			edit(t, settings(p), `"Bash"`, `"NoBash"`)
		}, Warning, "; it can still act unseen, with its own Bash", "pillion mcp install claude"},
		{"a tool on again in the project", func(t *testing.T, p machine) {
			p.install(t, "claude", p.pillion(t), install.Project)
			edit(t, filepath.Join(p.project, ".claude", "settings.local.json"), `"Edit"`, `"NoEdit"`)
		}, Warning, "; it can still act unseen, with its own Edit", "pillion mcp install --project claude"},
		{"not as today's version does it", func(t *testing.T, p machine) {
			p.install(t, "claude", p.pillion(t), install.User)
			edit(t, settings(p), `"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0"`, `"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "9"`)
		}, Warning, "; setting it up again keeps a call in the foreground while you read its diff; otherwise the model goes on after two minutes (applies to your other MCP servers too)", "pillion mcp install claude"},
		{"another program", func(t *testing.T, p machine) {
			p.install(t, "claude", p.script(t, "pillion", ""), install.User)
		}, OK, ", for all your projects, as BIN/pillion; its own edit and shell tools are off", ""},
		{"a program that is gone", func(t *testing.T, p machine) {
			p.install(t, "claude", "/gone/pillion", install.User)
		}, Error, "; it is set up to start /gone/pillion, which does not exist", "pillion mcp install claude"},
		{"broken", func(t *testing.T, p machine) { write(t, settings(p), "{", 0o600) }, Error, "line 1, column 2: parsing value: unexpected EOF", "fix that file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.script(t, "claude", "echo '2.1.329 (Claude Code)'")
			c.do(t, p)
			f := finding(t, p.examine(t), "agent.claude")
			if want := strings.ReplaceAll(c.detail, "BIN", p.bin); f.Status != c.status || !strings.HasSuffix(f.Detail, want) || f.Hint != c.hint {
				t.Errorf("%s\n%s\n%s\nwant %s\n%s\n%s", f.Status, f.Detail, f.Hint, c.status, want, c.hint)
			}
		})
	}
}

// An agent may live in an editor's extension and not on PATH.
func TestAnAgentThatIsNotOnPath(t *testing.T) {
	p := newPlace(t)
	p.install(t, "codex", p.pillion(t), install.User)
	if f := finding(t, p.examine(t), "agent.codex"); f.Status != OK || !strings.HasPrefix(f.Detail, "not on PATH; Pillion is set up in it") {
		t.Errorf("got %+v", f)
	}
}

// The home folder's files are not a project's as well.
func TestAgentsInTheHomeFolder(t *testing.T) {
	p := newPlace(t)
	p.install(t, "codex", p.pillion(t), install.User)
	p.project = p.home
	if f := finding(t, p.examine(t), "agent.codex"); !strings.Contains(f.Detail, "set up in it, for all your projects; its own") {
		t.Errorf("got %+v", f)
	}
}

func TestAllAgents(t *testing.T) {
	p := newPlace(t)
	for _, agent := range install.Agents() {
		p.script(t, agent, "echo 1.0.0")
		p.install(t, agent, p.pillion(t), install.User)
	}
	r := p.examine(t)
	for _, agent := range install.Agents() {
		if f := finding(t, r, "agent."+agent); f.Status != OK {
			t.Errorf("got %+v", f)
		}
	}
}
