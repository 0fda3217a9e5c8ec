package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/check"
	"pillion/tools/policy"
	"pillion/workspace"
)

// TestEverySettingHasABound: whoever adds a setting says what a project may do to it.
func TestEverySettingHasABound(t *testing.T) {
	var settings []string
	leaves("", func(key string, values []reflect.Value) {
		settings = append(settings, key)
		k := keyOf(key)
		if kind := values[0].Kind(); kind == reflect.Map {
			return // its entries say, in inProject
		}
		if isList := values[0].Kind() == reflect.Slice; k.never == "" && isList == (k.tighter != nil) {
			t.Errorf("%s: the row of a list says whether its entries tighten, that of a value which one is tighter", key)
		}
	}, reflect.ValueOf(Settings{}))
	if described := paths(reflect.TypeFor[Settings](), ""); !slices.Equal(settings, described) {
		t.Errorf("visited are\n%q\nthe settings are\n%q", settings, described)
	}
}

// TestWhatAProjectMayDo: each value against another, with and without trust.
func TestWhatAProjectMayDo(t *testing.T) {
	for _, test := range []struct{ project, own, untrusted, trusted, loosens string }{
		{`{"mode": "plan"}`, `{}`, `{"mode": "plan"}`, `{"mode": "plan"}`, ""},
		{`{"mode": "auto_edit"}`, `{}`, `{}`, `{"mode": "auto_edit"}`, "mode auto_edit (yours: default)"},
		{`{"mode": "default"}`, `{"mode": "plan"}`, `{}`, `{"mode": "default"}`, "mode default (yours: plan)"},
		{`{"mode": "default"}`, `{"mode": "auto_edit"}`, `{"mode": "default"}`, `{"mode": "default"}`, ""},
		{`{"mode": "full_access"}`, `{}`, `{}`, `{}`, ""},
		{`{"limits": {"readBytes": 5, "writeBytes": 99999999}}`, `{}`, `{"limits": {"readBytes": 5}}`, `{"limits": {"readBytes": 5, "writeBytes": 99999999}}`, "limits.writeBytes 99999999 (yours: 5242880)"},
		{`{"limits": {"readBytes": 5}}`, `{"limits": {"readBytes": 4}}`, `{}`, `{"limits": {"readBytes": 5}}`, "limits.readBytes 5 (yours: 4)"},
		{`{"approvals": {"expireSeconds": 60}}`, `{}`, `{"approvals": {"expireSeconds": 60}}`, `{"approvals": {"expireSeconds": 60}}`, ""},
		{`{"approvals": {"expireSeconds": 60}}`, `{"approvals": {"expireSeconds": 30}}`, `{}`, `{"approvals": {"expireSeconds": 60}}`, "approvals.expireSeconds 60 (yours: 30)"},
		{`{"path": "/tmp/evil", "trace": {"server": "verbose"}}`, `{}`, `{}`, `{}`, ""},
		{
			`{"permissions": {"allow": ["edit_file", "read_file"], "ask": ["a"], "deny": ["b"]}}`, `{"permissions": {"allow": ["read_file"]}}`,
			`{"permissions": {"allow": ["read_file"], "ask": ["a"], "deny": ["b"]}}`,
			`{"permissions": {"allow": ["edit_file", "read_file"], "ask": ["a"], "deny": ["b"]}}`, "allow edit_file",
		},
		{`{"languageServers": {"prefer": "own", "diagnostics": "editor", "editWaitSeconds": 9, "idleMinutes": 0}}`, `{}`, `{}`, `{}`, ""},
		{`{"languageServers": {"servers": {"pylsp": {"enabled": false}}}}`, `{}`, `{"languageServers": {"servers": {"pylsp": {"enabled": false}}}}`, `{"languageServers": {"servers": {"pylsp": {"enabled": false}}}}`, ""},
		{
			`{"languageServers": {"servers": {"evil": {"command": ["./evil"], "languages": ["python"]}, "rust-analyzer": {"enabled": true}}}}`, `{}`,
			`{}`, `{"languageServers": {"servers": {"evil": {"command": ["./evil"], "languages": ["python"]}, "rust-analyzer": {"enabled": true}}}}`,
			`languageServers.servers evil {"command":["./evil"],"languages":["python"]}; languageServers.servers rust-analyzer {"enabled":true}`,
		},
		{
			`{"languageServers": {"servers": {"pylsp": {"enabled": false, "env": {"A": "b"}}}}}`, `{}`,
			`{"languageServers": {"servers": {"pylsp": {"enabled": false}}}}`, `{"languageServers": {"servers": {"pylsp": {"enabled": false, "env": {"A": "b"}}}}}`,
			`languageServers.servers pylsp {"enabled":false,"env":{"A":"b"}}`,
		},
		{
			`{"mcpServers": {"m": {"command": "./m", "access": {"*": "read"}}}}`, `{}`,
			`{}`, `{"mcpServers": {"m": {"command": "./m"}}}`, `mcpServers m {"command":"./m"}`,
		},
		{ // what is yours stays yours
			`{"mcpServers": {"m": {"command": "./evil"}, "n": {"enabled": false}, "o": {"access": {"*": "read"}}}}`, `{"mcpServers": {"m": {"command": "m", "access": {"*": "read"}}, "n": {"command": "n"}}}`,
			`{"mcpServers": {"n": {"enabled": false}}}`, `{"mcpServers": {"n": {"enabled": false}}}`, "",
		},
		{
			`{"tools": {"toolDiscoveryCommand": "./list", "toolCallCommand": "./call"}, "mcp": {"mcpServerCommand": "./serve", "structured": true}}`, `{}`,
			`{}`, `{"tools": {"toolDiscoveryCommand": "./list", "toolCallCommand": "./call"}, "mcp": {"mcpServerCommand": "./serve"}}`,
			`tools.toolDiscoveryCommand ./list (yours: ""); tools.toolCallCommand ./call (yours: ""); mcp.mcpServerCommand ./serve (yours: "")`,
		},
		{
			`{"agents": {"codex": {"tools": ["edit_file", "glob"]}}}`, `{"agents": {"codex": {"tools": ["glob"]}}}`, // each list counts
			`{"agents": {"codex": {"tools": ["edit_file", "glob"]}}}`, `{"agents": {"codex": {"tools": ["edit_file", "glob"]}}}`, "",
		},
	} {
		project, _ := Parse([]byte(test.project))
		own, _ := Parse([]byte(test.own))
		for trusted, want := range map[bool]string{false: test.untrusted, true: test.trusted} {
			wanted, _ := Parse([]byte(want))
			h := hold(project, own, trusted)
			if !reflect.DeepEqual(h.counts, wanted) || strings.Join(h.loosens, "; ") != test.loosens {
				t.Errorf("%s over %s, trusted %v: %+v, loosens %q", test.project, test.own, trusted, h.counts, h.loosens)
			}
		}
	}
}

func TestTheStrictestHoldsForAll(t *testing.T) {
	a, _ := Parse([]byte(`{"mode": "auto_edit", "limits": {"readBytes": 5}}`))
	b, _ := Parse([]byte(`{"mode": "plan", "limits": {"writeBytes": 6}, "approvals": {"expireSeconds": 9}}`))
	want, _ := Parse([]byte(`{"mode": "plan", "limits": {"readBytes": 5, "writeBytes": 6}, "approvals": {"expireSeconds": 9}}`))
	for _, got := range []Settings{strictest(a, b), strictest(b, a)} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
	}
}

func TestServersAreLaidOverOthersFieldByField(t *testing.T) {
	user, _ := Parse([]byte(`{"languageServers": {"servers": {"pylsp": {"command": ["a", "b"], "settings": {"x": 1}}, "gopls": {"enabled": false}}}}`))
	editor, problems := Parse([]byte(`{"languageServers": {"editWaitSeconds": 0, "servers": {"pylsp": {"command": ["c"]}, "bad": 1, "lua": {"settings": [], "env": []}, "worse": {"settings": [1], "env": {"A": 1}, "comand": ["x"]}}}}`))
	got := editor.Over(user).LanguageServers
	if p := got.Servers["pylsp"]; !slices.Equal(p.Command, []string{"c"}) || string(p.Settings) != `{"x":1}` || !got.Servers["gopls"].Off() {
		t.Errorf("%+v", got)
	}
	if got.EditWait() != 0 || got.Idle() != 30*time.Minute || user.LanguageServers.EditWait() != 1500*time.Millisecond {
		t.Errorf("waits %v, idle %v", got.EditWait(), got.Idle())
	}
	if want := []string{
		`setting "languageServers.servers.bad" is ignored: it must be an object`,
		`unknown setting "languageServers.servers.worse.comand" is ignored`,
		`setting "languageServers.servers.worse.env" is ignored: it must be an object of strings`,
		`setting "languageServers.servers.worse.settings" is ignored: it must be an object`,
	}; !slices.Equal(problems, want) {
		t.Errorf("%q", problems)
	}
}

// TestServersOfSeveralFolders: the window has what all agree on, and each folder its own.
func TestServersOfSeveralFolders(t *testing.T) {
	a, _ := Parse([]byte(`{"languageServers": {"servers": {"pylsp": {"enabled": false}, "gopls": {"env": {"A": "b"}}, "x": {"command": ["x"]}}}}`))
	b, _ := Parse([]byte(`{"languageServers": {"servers": {"gopls": {"env": {"A": "b"}}}}}`))
	want := map[string]bool{"pylsp": true, "gopls": false}
	for _, s := range []Settings{strictest(a, b), strictest(b, a)} {
		got := map[string]bool{}
		for name, server := range s.LanguageServers.Servers {
			got[name] = server.Off()
		}
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// project is a folder with a settings file, and the layers that look at it.
func project(t *testing.T, text string) (*Layers, []workspace.Path, string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	file := filepath.Join(dir, ProjectFolder, ProjectFile)
	must(t, os.Mkdir(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o600))
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	book, err := OpenConsent()
	must(t, err)
	return NewLayers(Settings{}, book), w.Roots(), file
}

// TestALookIsCheap: the same view comes again until something changes, here or in
// what was agreed to.
func TestALookIsCheap(t *testing.T) {
	l, roots, file := project(t, `{"mode": "plan"}`)
	first := l.Look(roots)
	if first.Settings.Mode != policy.Plan || l.Look(roots) != first {
		t.Errorf("%+v", first)
	}
	must(t, l.Remember(roots[0].RootDir(), policy.Rule{Tool: "edit_file", Specifier: "a"}))
	second := l.Look(roots)
	if second == first || len(second.Folders[0].Rules.Allow) != 1 {
		t.Errorf("after a rule was remembered: %+v", second)
	}
	must(t, os.WriteFile(file, []byte(`{"mode": "oops"}`), 0o600))
	if third := l.Look(roots); third == second || third.Settings.Mode != "" || len(third.Folders[0].Problems) != 1 {
		t.Errorf("after the file changed: %+v", third)
	}
	l.SetOwn(Settings{Mode: policy.AutoEdit})
	check.Same(t, "after the user's own changed", l.Look(roots).Settings.Mode, policy.AutoEdit)
}

// TestTrustNeedsTheText that is there.
func TestTrustNeedsTheText(t *testing.T) {
	l, roots, _ := project(t, `{"permissions": {"allow": ["edit_file"]}}`)
	f := l.Look(roots).Folders[0]
	if !f.Asks() || f.Trusted || len(f.Rules.Allow) > 0 {
		t.Errorf("%+v", f)
	}
	if err := l.Trust(roots, f.File, Hash([]byte("other"))); err != ErrMoved {
		t.Errorf("another text: %v", err)
	}
	if err := l.Trust(roots, f.File+"x", f.Hash); err == nil {
		t.Error("another file is trusted")
	}
	must(t, l.Trust(roots, f.File, f.Hash))
	if f := l.Look(roots).Folders[0]; f.Asks() || !f.Trusted || len(f.Rules.Allow) != 1 {
		t.Errorf("%+v", f)
	}
}

// TestWhatCannotBeReadAnyMore: what tightened holds on, what loosened does not.
func TestWhatCannotBeReadAnyMore(t *testing.T) {
	l, roots, file := project(t, `{"permissions": {"allow": ["edit_file"], "deny": ["run_command"]}}`)
	f := l.Look(roots).Folders[0]
	must(t, l.Trust(roots, f.File, f.Hash))
	for name, spoil := range map[string]func() error{
		"a folder in its place": func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) },
		"too large": func() error {
			return errors.Join(os.Remove(file), os.WriteFile(file, make([]byte, maxProject+1), 0o600))
		},
		"a link that leaves": func() error { return errors.Join(os.Remove(file), os.Symlink("/dev/null", file)) },
	} {
		if f := l.Look(roots).Folders[0]; !f.Trusted {
			t.Fatalf("%s: before it %+v", name, f)
		}
		must(t, spoil())
		for range 2 {
			if f := l.Look(roots).Folders[0]; f.Trusted || f.Asks() || len(f.Rules.Allow) > 0 || len(f.Rules.Deny) != 1 || len(f.Problems) != 1 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		must(t, errors.Join(os.Remove(file), os.WriteFile(file, []byte(`{"permissions": {"allow": ["edit_file"], "deny": ["run_command"]}}`), 0o600)))
	}
	must(t, os.Remove(file))
	if f := l.Look(roots).Folders[0]; len(f.Rules.Deny) > 0 || len(f.Problems) > 0 {
		t.Errorf("a file that is gone: %+v", f)
	}
}

// TestARemnant: what denies holds, as far as the text can be read.
func TestARemnant(t *testing.T) {
	for text, want := range map[string]struct{ deny, ask int }{
		`{"permissions": {"deny": ["a", "b"], "ask": ["c"]}, x`:                                    {2, 1},
		`{"permissions": {"deny": ["a", {"rule": "b", "why": "c"}`:                                 {2, 0},
		`{"permissions": {"allow": ["a"], "deny": ["b"`:                                            {1, 0},
		"{ // \"deny\n/* { */ \"permissions\": /**/ {\"deny\": [\"a\", // \"b\"\n\"(\", 5, null ]": {1, 0},
		`{"other": {"deny": ["a"]}, "permissions": {"deny": {"x": "a"}, "more": {"deny": ["b"]}},`: {},
		`"deny" x`: {}, `]`: {}, `}`: {}, `{"": ["`: {}, `{"permissions": "deny", "a`: {}, `[[["a"]], {`: {}, `{"a" "b"`: {}, `/*`: {}, `//`: {}, `"\`: {},
	} {
		s, problems := parseProject([]byte(text))
		if len(s.Permissions.Deny) != want.deny || len(s.Permissions.Ask) != want.ask || len(s.Permissions.Allow) > 0 || len(problems) == 0 {
			t.Errorf("%s: %+v, problems %q", text, s.Permissions, problems)
		}
	}
}

func FuzzAProjectsSettings(f *testing.F) {
	f.Add(`{"permissions": {"deny": ["a", {"rule": "b"}]}, /* x */ "mode": "plan" // y`)
	f.Add(`{"permissions": {"allow": [{"rule": "run_command(a *)", "matches": ["a b"]}]}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		s, _ := parseProject([]byte(text))
		hold(s, Settings{}, false)
		withoutComments([]byte(text))
		salvage([]byte(text))
	})
}

// TestExamples are tried when a rule is read.
func TestExamples(t *testing.T) {
	s, problems := Parse([]byte(`{"permissions": {
		"allow": [
			{"rule": "edit_file(docs/**)", "matches": ["docs/a.md", "docs/b/c.md"], "not": ["src/a.go", "docs"], "why": "prose"},
			{"rule": "edit_file(src/*)", "matches": ["src/a/b.go"]},
			{"rule": "edit_file(lib/**)", "not": ["lib/secret/key.go"]},
			{"rule": "edit_file(.pillion/**)", "matches": [".pillion/settings.json"]},
			{"rule": "run_command(make test)", "matches": ["make test"], "not": ["make install", "make test; rm -rf ."]},
			{"rule": "run_command(make)", "matches": ["make all"]},
			{"rule": "run_command(git status *)", "matches": ["git status", "git status -s"], "not": ["git push", "git status; rm -rf .", "git status $(date)"]},
			{"rule": "run_command(go test *) in sub", "matches": ["go test ./..."], "not": ["go test -exec ./x ./..."]},
			{"rule": "run_command(ls *)", "not": ["ls -l"]},
			{"matches": ["a"]}, {"rule": "edit_file", "examples": []}, 5
		],
		"ask": [{"rule": "edit_file(a*)", "matches": ["abc"], "not": ["b"]}],
		"deny": [{"rule": "read_file(private/**)", "matches": ["private/a"], "not": ["public/a"]}, {"rule": "edit_file(x)", "matches": ["y"]}]
	}}`))
	kept := func(list []Rule) (out []string) {
		for _, r := range list {
			out = append(out, r.Rule)
		}
		return out
	}
	if got := kept(s.Permissions.Allow); !slices.Equal(got, []string{"edit_file(docs/**)", "run_command(make test)", "run_command(git status *)", "run_command(go test *) in sub", "edit_file"}) {
		t.Errorf("allow: %q", got)
	}
	if got := kept(s.Permissions.Deny); !slices.Equal(got, []string{"read_file(private/**)", "edit_file(x)"}) || len(s.Permissions.Ask) != 1 {
		t.Errorf("deny: %q, ask: %v", got, s.Permissions.Ask)
	}
	want := []string{
		`setting "permissions.allow[9]" is ignored: it has no "rule"`,
		`unknown setting "permissions.allow[10].examples" is ignored`,
		`setting "permissions.allow[11]" is ignored: it must be a string, or an object with "rule"`,
		`rule "edit_file(src/*)" is ignored: it does not match its own example "src/a/b.go": this tool changes files`,
		`rule "edit_file(lib/**)" is ignored: it matches "lib/secret/key.go", which its examples exclude`,
		`rule "edit_file(.pillion/**)" is ignored: it does not match its own example ".pillion/settings.json": .pillion/settings.json can change what agents may do here`,
		`rule "run_command(make)" is ignored: it does not match its own example "make all": this tool runs a program`,
		`rule "run_command(ls *)" is ignored: it matches "ls -l", which its examples exclude`,
		`rule "edit_file(x)" may not be what you mean: it does not match its own example "y"`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
}
