package install

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/check"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func TestBrokenFileIsAnErrorThatSaysWhere(t *testing.T) {
	for _, c := range []struct{ agent, file, text, want string }{
		{"claude", ".claude/settings.json", "{\n  \"permissions\": {\n", "line 3"},
		{"claude", ".claude.json", "[]\n", "must contain a JSON object"},
		{"claude", ".claude/settings.json", `{"permissions": {"deny": "Bash"}}`, "permissions.deny must be an array"},
		{"qwen", ".qwen/settings.json", "{\"a\": 1,, }", "line 1"},
		{"qwen", ".qwen/settings.json", `{"mcpServers": []}`, "mcpServers must be an object"},
		{"codex", ".codex/config.toml", "model = \"x\"\nmodel = \n", "line 2"},
		{"codex", ".codex/config.toml", "features = { web = true }\n", "[features]"},
		{"codex", ".codex/config.toml", "mcp_servers = { x = { command = \"y\" } }\n", "tables] of their own"},
		{"codex", ".codex/config.toml", "sandbox_mode = \"\"\"\nread-write\"\"\"\n", "several lines"},
	} {
		o := options(t)
		put(t, filepath.Join(o.Home, c.file), c.text)
		before := tree(t, o.Home)
		_, err := For(c.agent, o)
		if err == nil {
			t.Errorf("%s with %q: no error", c.file, c.text)
			continue
		}
		check.Has(t, "the error of "+c.text, err.Error(), filepath.Base(c.file), c.want)
		compare(t, "after the error", tree(t, o.Home), before)
	}
}

func TestBadOptions(t *testing.T) {
	good := options(t)
	for name, c := range map[string]struct {
		agent  string
		change func(*Options)
		want   string
	}{
		"agent":   {"emacs", func(*Options) {}, "claude, codex, gemini, opencode or qwen"},
		"binary":  {"claude", func(o *Options) { o.Binary = "pillion" }, "absolute"},
		"home":    {"claude", func(o *Options) { o.Home = "" }, "HOME"},
		"scope":   {"claude", func(o *Options) { o.Scope = "world" }, "choose user or project"},
		"project": {"claude", func(o *Options) { o.Scope, o.Project = Project, "" }, "absolute path of the project"},
	} {
		o := good
		c.change(&o)
		if _, err := For(c.agent, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestEachAgentSaysHowItAsksWithoutAnEditor(t *testing.T) {
	for _, agent := range Agents() {
		p, err := For(agent, options(t))
		if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), "When no editor is open, ") || !strings.Contains(strings.Join(p.Notes, "\n"), "pillion watch") {
			t.Errorf("%s: %v, %q", agent, err, p.Notes)
		}
	}
}

// What the user had written before is not ours to take out again.
func TestUninstallKeepsTheUsersOwnRules(t *testing.T) {
	o := options(t)
	settings := filepath.Join(o.Home, ".claude", "settings.json")
	text := `{
  "permissions": {"deny": ["WebFetch", "Bash"]},
  "env": {"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "5000"}
}
`
	put(t, settings, text)
	run(t, "claude", o)
	if got := get(t, settings); strings.Count(got, `"Bash"`) != 1 || !strings.Contains(got, `"Monitor"`) || strings.Contains(got, "5000") {
		t.Fatalf("installed: %s", got)
	}
	o.Uninstall = true
	run(t, "claude", o)
	if got := get(t, settings); got != text {
		t.Errorf("uninstalled:\n%s\nwant\n%s", got, text)
	}
}

func TestUninstallWithoutARecordSaysSo(t *testing.T) {
	o := options(t)
	run(t, "qwen", o)
	must(t, os.RemoveAll(o.stateFolderOf(t)))
	o.Uninstall = true
	p := plan(t, "qwen", o)
	if len(p.Files) != 1 || !strings.Contains(strings.Join(p.Files[0].Why, "\n"), "no record") {
		t.Errorf("got %+v", p.Files)
	}
}

func (o Options) stateFolderOf(t *testing.T) string {
	t.Helper()
	must(t, o.check())
	return o.stateFolder()
}

// An update of Pillion may live elsewhere: our part follows, the user's
// additions to it stay.
func TestInstallAgainWithAnotherBinary(t *testing.T) {
	for agent, file := range map[string]string{"claude": ".claude.json", "codex": ".codex/config.toml", "qwen": ".qwen/settings.json", "gemini": ".gemini/settings.json", "opencode": ".config/opencode/opencode.json"} {
		o := options(t)
		run(t, agent, o)
		path := filepath.Join(o.Home, file)
		added := strings.NewReplacer(`"args": [`, `"mine": true, "args": [`, `args = [`, "mine = true\nargs = [").Replace(get(t, path))
		put(t, path, added)
		o.Binary = "/usr/local/bin/pillion"
		run(t, agent, o)
		if got, want := get(t, path), strings.ReplaceAll(added, "/opt/my tools/pillion", o.Binary); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", agent, got, want)
		}
	}
}

func TestAgentsOwnVariablesMoveTheFiles(t *testing.T) {
	o := options(t)
	elsewhere := filepath.Join(o.Home, "elsewhere")
	o.Getenv = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": elsewhere, "CODEX_HOME": elsewhere, "QWEN_HOME": "~/elsewhere", "GEMINI_CLI_HOME": elsewhere, "XDG_CONFIG_HOME": elsewhere, "XDG_STATE_HOME": filepath.Join(o.Home, "state")}[name]
	}
	for agent, want := range map[string]string{"claude": ".claude.json", "codex": "config.toml", "qwen": "settings.json", "gemini": ".gemini/settings.json", "opencode": "opencode/opencode.json"} {
		check.Same(t, agent+" writes", plan(t, agent, o).Files[0].Path, filepath.Join(elsewhere, want))
	}
	put(t, filepath.Join(elsewhere, ".config.json"), "{}")
	check.Same(t, "claude writes", plan(t, "claude", o).Files[0].Path, filepath.Join(elsewhere, ".config.json"))
}

func TestApplyLeavesAFileThatChangedMeanwhile(t *testing.T) {
	o := options(t)
	settings := filepath.Join(o.Home, ".claude", "settings.json")
	put(t, settings, "{}\n")
	p := plan(t, "claude", o)
	put(t, settings, `{"theme": "dark"}`)
	err := p.Apply()
	if err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Fatalf("got %v", err)
	}
	compare(t, "after the refusal", tree(t, o.Home), map[string]string{".claude/settings.json": `{"theme": "dark"}`})
}

func TestApplyPutsBackWhatItWroteWhenALaterFileFails(t *testing.T) {
	o := options(t)
	first, second := filepath.Join(o.Home, "first"), filepath.Join(o.Home, "sub", "second")
	put(t, first, "old")
	put(t, filepath.Join(o.Home, "sub"), "a file where a folder should be")
	p := Plan{Files: []FileChange{
		{Path: first, Before: "old", After: "new", Existed: true},
		{Path: second, After: "new"},
	}}
	if err := p.Apply(); err == nil {
		t.Fatal("no error")
	}
	check.Same(t, "first", get(t, first), "old")
}

func TestApplyKeepsModeAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are not to be had on Windows")
	}
	o := options(t)
	target := filepath.Join(o.Home, "dotfiles", "codex.toml")
	put(t, target, "model = \"x\"\n")
	must(t, os.Chmod(target, 0o640))
	link := filepath.Join(o.Home, ".codex", "config.toml")
	must(t, os.MkdirAll(filepath.Dir(link), 0o755))
	must(t, os.Symlink("../dotfiles/codex.toml", link))
	// And one whose target is not there yet.
	absent := filepath.Join(o.Home, "dotfiles", "qwen.json")
	must(t, os.MkdirAll(filepath.Join(o.Home, ".qwen"), 0o755))
	must(t, os.Symlink(absent, filepath.Join(o.Home, ".qwen", "settings.json")))
	run(t, "codex", o)
	run(t, "qwen", o)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if !strings.Contains(get(t, target), "[mcp_servers.pillion]") || !strings.Contains(get(t, absent), `"pillion"`) {
		t.Error("not written through the links")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Home, "dotfiles", ".*")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestClaudeFilesAProjectUnderItsMainWorkTree(t *testing.T) {
	o := options(t)
	o.Scope = Project
	put(t, filepath.Join(o.Home, "main", ".git", "worktrees", "w", "HEAD"), "ref: refs/heads/w\n")
	put(t, filepath.Join(o.Home, "w", ".git"), "gitdir: "+filepath.Join(o.Home, "main", ".git", "worktrees", "w")+"\n")
	for project, want := range map[string]string{"my project": "my project", "main": "main", "main/sub": "main", "w": "main"} {
		o.Project = filepath.Join(o.Home, project)
		must(t, os.MkdirAll(o.Project, 0o755))
		check.Same(t, project+" is filed under", claudeRoot(o.Project), filepath.Join(o.Home, want))
	}
}

// What the user had under our name comes back in its words, though not with its comments.
func TestAnOwnServerOfCodexComesBack(t *testing.T) {
	const own = "[mcp_servers.pillion]\ncommand = \"pillion-of-mine\"\nargs = [\"serve\"]\n\n[mcp_servers.pillion.env]\nA = \"b\"\n"
	for _, before := range []string{"model = \"m\"\n\n" + own, "[mcp_servers]\npillion = { command = \"pillion-of-mine\", args = [\"serve\"], env = { A = \"b\" } }\n"} {
		o := options(t)
		config := filepath.Join(o.Home, ".codex", "config.toml")
		put(t, config, before)
		run(t, "codex", o)
		check.Lacks(t, "the file", get(t, config), "of-mine", "A =")
		o.Uninstall = true
		run(t, "codex", o)
		got, err := decodeTOML(get(t, config))
		want, _ := decodeTOML(before) //nolint:errcheck // it is a constant
		if err != nil || !equalJSON(got, want) {
			t.Errorf("%v:\n%s\nwant\n%s", err, get(t, config), before)
		}
	}
}
