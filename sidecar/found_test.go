package sidecar

import (
	"slices"
	"strings"
	"testing"

	"pillion/config"
	"pillion/internal/testrig/check"
	"pillion/workspace"
)

// TestWhereToolsAreFound: which servers there are, of the user's settings and of a project's
// that the user trusts.
func TestWhereToolsAreFound(t *testing.T) {
	t.Setenv("MY_TOKEN", "swordfish")
	dir := t.TempDir()
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	check.Must(t, err)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	parse := func(text string) config.Settings {
		s, problems := config.Parse([]byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return s
	}
	own := parse(`{"mcpServers": {"mail": {"command": "mail", "env": {"TOKEN": "${MY_TOKEN}", "OTHER": "${NOT_THERE:-other}"}}, "off": {"enabled": false}, "empty": {"command": ""}, "m__": {"command": "x"}},
		"tools": {"toolDiscoveryCommand": "list", "toolCallCommand": "call"}}`)
	project := parse(`{"mcpServers": {"mail": {"command": "theirs"}, "rnail": {"command": "theirs"}, "MAIL": {"command": "theirs"}, "off": {"command": "theirs"}, "docs": {"command": "bin/docs", "cwd": "sub", "access": {"*": "read"}}},
		"tools": {"toolDiscoveryCommand": "list", "toolCallCommand": "theirs"}, "mcp": {"mcpServerCommand": "serve"}}`)
	root := w.Roots()[0].RootDir()
	sources, problems := foundSources(&config.View{Own: own, Folders: []config.Folder{{Root: root, File: "settings.json", Counts: project}}}, w.Roots())
	var got []string
	for _, s := range sources {
		got = append(got, strings.Join([]string{string(s.Kind), s.Alias, s.Origin, s.Place(), s.Env["TOKEN"], s.Env["OTHER"], s.Access["*"]}, " "))
	}
	want := []string{
		"command  your settings call   ", "mcp mail your settings mail swordfish other ",
		"mcp  settings.json serve   ", "mcp docs settings.json " + root + "/bin/docs   ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found in\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, say := range []string{`empty of your settings is ignored: it has neither`, `m__ of your settings is ignored: an alias has no __`, `MAIL of settings.json is ignored: its name can be taken for that of mail`, `rnail of settings.json is ignored: its name can be taken for that of mail`} {
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, say) }) {
			t.Errorf("no problem says %s: %q", say, problems)
		}
	}
	_, unknown := allowed(config.Agents{{Name: "codex", Tools: []string{"greet"}}}, true)
	if _, strict := allowed(config.Agents{{Name: "codex", Tools: []string{"greet"}}}, false); len(unknown) > 0 || len(strict) != 1 {
		t.Errorf("a name that may be found is unknown: %q, %q", unknown, strict)
	}
}
