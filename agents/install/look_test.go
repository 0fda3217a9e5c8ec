package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func look(t *testing.T, agent string, o Options) State {
	t.Helper()
	s, err := Look(agent, o)
	if err != nil {
		t.Fatalf("%s: %v", agent, err)
	}
	return s
}

// Before, everything is on; after, nothing; and a second installation would change
// nothing, in either scope.
func TestLookSeesWhatInstallingDid(t *testing.T) {
	for _, agent := range Agents() {
		for _, scope := range []string{User, Project} {
			o := options(t)
			o.Scope = scope
			if s := look(t, agent, o); len(s.Scopes) > 0 || s.Server != "" || len(s.On) == 0 || len(s.Changes) > 0 {
				t.Errorf("%s, %s, before: %+v", agent, scope, s)
			}
			run(t, agent, o)
			if s := look(t, agent, o); !slices.Equal(s.Scopes, []string{scope}) || s.Server != o.Binary || len(s.On) > 0 || len(s.Changes) > 0 {
				t.Errorf("%s, %s, after: %+v", agent, scope, s)
			}
			o.Uninstall = true
			run(t, agent, o)
			if s := look(t, agent, o); len(s.Scopes) > 0 || len(s.On) == 0 {
				t.Errorf("%s, %s, uninstalled: %+v", agent, scope, s)
			}
		}
	}
}

func TestLookNamesWhatIsOnAgain(t *testing.T) {
	for _, c := range []struct {
		agent, file, old, new string
		on                    []string
	}{
		{"claude", ".claude/settings.json", `"Bash"`, `"NoBash"`, []string{"Bash"}},
		{"qwen", ".qwen/settings.json", `"edit"`, `"no_edit"`, []string{"edit"}},
		{"codex", ".codex/config.toml", `sandbox_mode = "read-only"`, `sandbox_mode = "workspace-write"`, []string{"apply_patch"}},
		{"codex", ".codex/config.toml", `shell_tool = false`, `shell_tool = true`, []string{"exec_command"}},
	} {
		o := options(t)
		run(t, c.agent, o)
		file := filepath.Join(o.Home, c.file)
		text := get(t, file)
		if !strings.Contains(text, c.old) {
			t.Fatalf("%s has no %s: %s", c.file, c.old, text)
		}
		put(t, file, strings.Replace(text, c.old, c.new, 1))
		if s := look(t, c.agent, o); !slices.Equal(s.On, c.on) || len(s.Changes) == 0 {
			t.Errorf("%s, %s: %+v", c.agent, c.new, s)
		}
	}
}

// A project's own file can turn on again what the user's turned off.
func TestLookTakesTheNearerFile(t *testing.T) {
	o := options(t)
	run(t, "codex", o)
	put(t, filepath.Join(o.Project, ".codex", "config.toml"), "sandbox_mode = \"danger-full-access\"\n")
	if s := look(t, "codex", o); !slices.Equal(s.On, []string{"apply_patch"}) || !slices.Equal(s.Scopes, []string{User}) {
		t.Errorf("got %+v", s)
	}
	o.Project = ""
	if s := look(t, "codex", o); len(s.On) > 0 {
		t.Errorf("without a project: %+v", s)
	}
	put(t, filepath.Join(o.Home, ".codex", "config.toml"), "sandbox_mode = \"read-only\"\napproval_policy = \"never\"\nfeatures.shell_tool = false\n")
	if s := look(t, "codex", o); len(s.On) > 0 || s.Server != "" {
		t.Errorf("as tight by other words: %+v", s)
	}
}

func TestLookAtGemini(t *testing.T) {
	o := options(t)
	if s := look(t, "gemini", o); s.Server != "" || !slices.Equal(s.On, []string{"run_shell_command", "replace", "write_file"}) {
		t.Errorf("without a file: %+v", s)
	}
	put(t, filepath.Join(o.Home, ".gemini", "settings.json"), `{
  // by hand
  "mcpServers": {"pillion": {"command": "/opt/pillion", "args": ["mcp"]}},
  "tools": {"exclude": ["run_shell_command", "replace"]},
}`)
	if s := look(t, "gemini", o); s.Server != "/opt/pillion" || !slices.Equal(s.On, []string{"write_file"}) || len(s.Changes) == 0 {
		t.Errorf("set up by hand: %+v", s)
	}
}

func TestLookAtWhatIsBroken(t *testing.T) {
	o := options(t)
	put(t, filepath.Join(o.Home, ".codex", "config.toml"), "model = \n")
	put(t, filepath.Join(o.Home, ".claude.json"), "{")
	for _, agent := range []string{"codex", "claude", "emacs"} {
		if _, err := Look(agent, o); err == nil {
			t.Errorf("%s: no error", agent)
		}
	}
	if got := tree(t, o.Home); len(got) != 2 {
		t.Errorf("looking wrote something: %v", sortedKeys(got))
	}
}
