package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/check"
	"pillion/tools/policy"
)

func TestParse(t *testing.T) {
	s, problems := Parse(json.RawMessage(`{
		// what a person may write in their own file
		"path": "/usr/bin/pillion",
		"trace": {"server": "verbose"},
		"mode": "plan",
		"permissions": {"allow": ["read_file"], "ask": ["edit_file(src/**)"], "deny": ["run_command"],},
		"approvals": {"expireSeconds": 1.5},
		"limits": {"readBytes": 1, "writeBytes": 2, "diffBytes": 3, "outputBytes": 4, "callSeconds": 5,
			"commandSeconds": 6, "changesPerMinute": 7, "readsPerMinute": 8},
	}`))
	want := Settings{
		Path: "/usr/bin/pillion", Trace: Trace{Server: "verbose"}, Mode: policy.Plan,
		Permissions: Permissions{Allow: plainRules("read_file"), Ask: plainRules("edit_file(src/**)"), Deny: plainRules("run_command")},
		Approvals:   Approvals{ExpireSeconds: 1.5},
		Limits: Limits{
			ReadBytes: 1, WriteBytes: 2, DiffBytes: 3, OutputBytes: 4, CallSeconds: 5, CommandSeconds: 6, ChangesAMinute: 7, ReadsAMinute: 8,
		},
	}
	if len(problems) > 0 || !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, problems %q, want %+v", s, problems, want)
	}
	if late := (Approvals{ExpireSeconds: 1e300}).Expiry(); late < time.Hour {
		t.Errorf("an expiry beyond all bounds is %s", late)
	}
	if s.Approvals.Expiry() != 1500*time.Millisecond || s.Limits.Call() != 5*time.Second || s.Limits.Command() != 6*time.Second {
		t.Errorf("times: %s, %s, %s", s.Approvals.Expiry(), s.Limits.Call(), s.Limits.Command())
	}
	if rules := s.Permissions.Rules(); len(rules.Allow) != 1 || len(rules.Ask) != 1 || len(rules.Deny) != 1 || rules.Deny[0].Tool != "run_command" {
		t.Errorf("rules: %+v", rules)
	}
}

func TestNothingIsSet(t *testing.T) {
	for _, raw := range []string{"", "null", "{}", `{"permissions": null, "limits": {"readBytes": null}}`} {
		if s, problems := Parse(json.RawMessage(raw)); len(problems) > 0 || !reflect.DeepEqual(s, Settings{}) {
			t.Errorf("%q: %+v, problems %q", raw, s, problems)
		}
	}
}

// TestProblems: each is told with its key, and leaves the rest of the object alone.
func TestProblems(t *testing.T) {
	for raw, want := range map[string][]string{
		`{"permisions": {}}`:                      {`unknown setting "permisions" is ignored`},
		`{"Mode": "plan"}`:                        {`unknown setting "Mode" is ignored; did you mean "mode"?`},
		`{"limits": {"read_bytes": 5}}`:           {`unknown setting "limits.read_bytes" is ignored; did you mean "readBytes"?`},
		`{"limits": {"b": 1, "a": 1}}`:            {`unknown setting "limits.a" is ignored`, `unknown setting "limits.b" is ignored`},
		`{"mode": "fast"}`:                        {`mode "fast" does not exist; use plan, draft, default, auto_edit or auto`},
		`{"mode": "full_access"}`:                 {`mode full_access cannot be a setting; choose it for a session, in the editor`},
		`{"mode": 1}`:                             {`setting "mode" is ignored: it must be a text`},
		`{"trace": {"server": "loud"}}`:           {`trace.server "loud" does not exist; use off, messages or verbose`},
		`{"trace": "verbose"}`:                    {`setting "trace" is ignored: it must be an object`},
		`{"limits": {"readBytes": "1 MB"}}`:       {`setting "limits.readBytes" is ignored: it must be an integer`},
		`{"limits": {"readBytes": 1.5}}`:          {`setting "limits.readBytes" is ignored: it must be an integer`},
		`{"limits": {"callSeconds": true}}`:       {`setting "limits.callSeconds" is ignored: it must be a number`},
		`{"limits": {"callSeconds": -1}}`:         {`limits.callSeconds is ignored: it must be between 0 and 2147483647`},
		`{"limits": {"readBytes": -1}}`:           {`limits.readBytes is ignored: it must be between 0 and 2147483647`},
		`{"approvals": {"expireSeconds": 1e300}}`: {`approvals.expireSeconds is ignored: it must be between 0 and 2147483647`},
		`{"permissions": {"deny": "all"}}`:        {`setting "permissions.deny" is ignored: it must be a list of strings`},
		`{"permissions": {"deny": [1]}}`:          {`setting "permissions.deny[0]" is ignored: it must be a string, or an object with "rule"`},
		`[]`:                                      {`the settings are ignored: they must be an object`},
	} {
		s, problems := Parse(json.RawMessage(raw))
		if !slices.Equal(problems, want) {
			t.Errorf("%s: problems %q, want %q", raw, problems, want)
		}
		if !reflect.DeepEqual(s, Settings{}) {
			t.Errorf("%s: %+v, want nothing set", raw, s)
		}
	}
	s, problems := Parse(json.RawMessage(`{"limits": {"commandSeconds": 3600}}`))
	if len(problems) != 1 || s.Limits.CommandSeconds != 600 {
		t.Errorf("an hour for a command: %v, problems %q", s.Limits.CommandSeconds, problems)
	}
}

// TestAMistakeSwitchesNoRuleOff.
func TestAMistakeSwitchesNoRuleOff(t *testing.T) {
	s, problems := Parse(json.RawMessage(`{"limits": {"readBytes": "x"}, "mode": [], "permissions": {"allow": 1, "deny": ["(", 2, "run_command"]}}`))
	if !reflect.DeepEqual(s.Permissions.Deny, plainRules("run_command")) {
		t.Errorf("deny: %v", s.Permissions.Deny)
	}
	if len(problems) != 5 || !strings.Contains(strings.Join(problems, "\n"), `rule "(" is ignored: `) {
		t.Errorf("problems: %q", problems)
	}
}

func TestBrokenJSONSaysWhere(t *testing.T) {
	s, problems := Parse(json.RawMessage("{\n  \"mode\": }"))
	if len(problems) != 1 || !strings.Contains(problems[0], "line 2, column") || !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("%+v, problems %q", s, problems)
	}
}

func TestOver(t *testing.T) {
	user := Settings{
		Mode: policy.Plan, Permissions: Permissions{Allow: plainRules("a"), Deny: plainRules("d")},
		Approvals: Approvals{ExpireSeconds: 1}, Limits: Limits{ReadBytes: 1, CallSeconds: 2},
	}
	editor := Settings{
		Path: "/p", Permissions: Permissions{Allow: plainRules("b"), Ask: plainRules("c")}, Limits: Limits{ReadBytes: 10, WriteBytes: 20},
	}
	want := Settings{
		Path: "/p", Mode: policy.Plan, Permissions: Permissions{Allow: plainRules("a", "b"), Ask: plainRules("c"), Deny: plainRules("d")},
		Approvals: Approvals{ExpireSeconds: 1}, Limits: Limits{ReadBytes: 10, WriteBytes: 20, CallSeconds: 2},
	}
	got := editor.Over(user)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if editor.Mode = policy.Default; editor.Over(user).Mode != policy.Default {
		t.Error("the editor's mode does not win")
	}
	// What comes out shares nothing with what went in.
	got.Permissions.Allow[0].Rule = "changed"
	check.Same(t, "the user's settings", user.Permissions.Allow[0].Rule, "a")
}

func TestTheUsersOwnFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	name, err := UserFile()
	must(t, err)
	if s, problems := ReadUser(); len(problems) > 0 || !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("without a file: %+v, problems %q", s, problems)
	}
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(`{"mode": "plan", "extra": 1}`), 0o600))
	s, problems := ReadUser()
	if want := name + `: unknown setting "extra" is ignored`; s.Mode != policy.Plan || !slices.Equal(problems, []string{want}) {
		t.Errorf("%+v, problems %q", s, problems)
	}
	must(t, os.Remove(name))
	must(t, os.Mkdir(name, 0o700))
	if _, problems := ReadUser(); len(problems) != 1 || !strings.HasPrefix(problems[0], "the user's settings cannot be read: ") {
		t.Errorf("a folder in its place: problems %q", problems)
	}
}

// paths are all settings, in the order of the struct.
func paths(t reflect.Type, at string) []string {
	if t.Kind() != reflect.Struct {
		return []string{at}
	}
	var out []string
	for f := range t.Fields() {
		out = append(out, paths(f.Type, join(at, nameOf(f)))...)
	}
	return out
}

// TestEveryKeyIsDescribed, in the struct's order, with a type that people know.
func TestEveryKeyIsDescribed(t *testing.T) {
	var described []string
	for _, key := range Keys() {
		described = append(described, key.Name)
		if key.Type == "" || key.Meaning == "" {
			t.Errorf("nothing is said of %q: %+v", key.Name, key)
		}
	}
	if want := paths(reflect.TypeFor[Settings](), ""); !slices.Equal(described, want) {
		t.Errorf("described are\n%q\nthe settings are\n%q", described, want)
	}
}

// TestTheExamplesAreRight: what the pages show can be pasted.
func TestTheExamplesAreRight(t *testing.T) {
	for _, name := range []string{"settings", "languages"} {
		page, err := os.ReadFile("../docs/" + name + ".md")
		must(t, err)
		examples := regexp.MustCompile("(?s)```jsonc\n(.*?)```").FindAllSubmatch(page, -1)
		if len(examples) == 0 {
			t.Fatalf("docs/%s.md has no example", name)
		}
		for _, example := range examples {
			if s, problems := Parse(example[1]); len(problems) > 0 || reflect.DeepEqual(s, Settings{}) {
				t.Errorf("%s\nproblems: %q", example[1], problems)
			}
		}
	}
}

func TestRulesThatAllowNothingAreNamed(t *testing.T) {
	s, problems := Parse([]byte(`{"permissions": {"allow": ["run_command(*)", "run_command(sh *)", "run_command(go test *)", "run_command"], "deny": ["run_command(sh *)"]}}`))
	if len(problems) != 2 || !strings.Contains(problems[0], `rule "run_command(*)" is ignored: it would allow nothing: `) ||
		!strings.Contains(problems[1], "sh can run other programs") || len(s.Permissions.Allow) != 2 {
		t.Errorf("%q", problems)
	}
}

// plainRules are rules without examples.
func plainRules(rules ...string) []Rule {
	var out []Rule
	for _, text := range rules {
		out = append(out, Rule{Rule: text})
	}
	return out
}

func TestToolsOfAgents(t *testing.T) {
	user, problems := Parse([]byte(`{"agents": {"codex": {"tools": ["core"]}, "a": {"tools": []}, "b": {"tools": "core"}, "c": {"tools": null, "tool": []}, "d": 1}}`))
	if want := (Agents{{"a", []string{}}, {"b", []string{}}, {"codex", []string{"core"}}}); !reflect.DeepEqual(user.Agents, want) {
		t.Errorf("%q, want %q: what cannot be read is no tool", user.Agents, want)
	}
	if want := []string{
		`setting "agents.b.tools" must be a list of tools. Using none`, `unknown setting "agents.c.tool" is ignored; there is tools`, `setting "agents.d" is ignored: it must be an object`,
	}; !slices.Equal(problems, want) {
		t.Errorf("%q", problems)
	}
	editor, problems := Parse([]byte(`{"agents": {"codex": {"tools": ["glob"]}}}`))
	if got := editor.Over(Settings{Agents: user.Agents[2:]}).Agents; len(problems) > 0 || !reflect.DeepEqual(got, Agents{{"codex", []string{"core"}}, {"codex", []string{"glob"}}}) {
		t.Errorf("%q, %q", got, problems)
	}
	if lua, problems := Parse([]byte(`{"agents": []}`)); lua.Agents != nil || len(problems) > 0 {
		t.Errorf("%q, %q", lua.Agents, problems)
	}
}
