package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/sidecar"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

// pillion runs the command line in an editor's folder and its person's home.
func pillion(t *testing.T, e *testrig.Editor, args ...string) string {
	t.Helper()
	out, err := commandOf(e, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("pillion %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// commandOf is the same, not started.
func commandOf(e *testrig.Editor, args ...string) *exec.Cmd {
	self, _ := os.Executable() // it runs
	command := exec.Command(self, args...)
	command.Dir = e.Dir
	command.Env = append(os.Environ(), "PILLION_TEST_MAIN=1", "HOME="+e.Home, "XDG_CONFIG_HOME="+filepath.Join(e.Home, ".config"))
	return command
}

// TestEditorsHearOfRules: of those that hold when they start, and of each change; what an
// editor forgets asks again.
func TestEditorsHearOfRules(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"permissions": object{"deny": []string{"move_file"}}}})
	heard := make(chan sidecar.Rules, 20)
	e.OnNotice(func(method string, params json.RawMessage) {
		var rules sidecar.Rules
		if method == "rules/changed" && json.Unmarshal(params, &rules) == nil {
			heard <- rules
		}
	})
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(*.txt)"], "ask": ["read_file(a)"]}}`)
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	hears := func(what string, is func(sidecar.Rules) bool) sidecar.Rules { // some are told of before the file is known
		for {
			if rules := testrig.Wait(t, heard, what); is(rules) {
				return rules
			}
		}
	}
	got := hears("the rules with the file", func(r sidecar.Rules) bool { return len(r.Untrusted) > 0 })
	if len(got.Untrusted) != 1 || got.Untrusted[0].Hash != u.Hash || len(got.Rules) != 2 || got.Rules[0].Rule != "move_file" || got.Rules[1].File != u.Path {
		t.Errorf("%+v", got)
	}
	e.Must("settings/ignore", object{"path": u.Path, "hash": u.Hash}, nil)
	hears("the same after a no: what was ignored is listed", func(r sidecar.Rules) bool { return len(r.Untrusted) == 1 })
	asked(t, e, e.Start("write_file", write), object{"decision": "approve", "decisionId": "workspace"})
	rules := hears("the remembered rule", func(r sidecar.Rules) bool { return r.Rules[len(r.Rules)-1].From == "remembered" }).Rules
	last := rules[len(rules)-1]
	if last.From != "remembered" || last.Rule != "write_file(notes.txt)" {
		t.Fatalf("%+v", rules)
	}
	again := object{"path": "notes.txt", "content": "other\n"}
	wantDecision(t, e, "write_file", again, "run")
	for _, wrong := range []object{{"folder": last.Folder, "rule": "write_file"}, {"folder": e.Home, "rule": last.Rule}} {
		e.Refuses("rules/forget", wrong, wire.CodeInvalidParams)
	}
	e.Must("rules/forget", object{"folder": last.Folder, "rule": last.Rule}, nil)
	hears("the rules without it", func(r sidecar.Rules) bool { return len(r.Rules) == 2 })
	wantDecision(t, e, "write_file", again, "ask")
}

// TestRememberedRulesAreListedAndForgotten, and a window that is open goes by it.
func TestRememberedRulesAreListedAndForgotten(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
		if r := asked(t, e, e.Start("write_file", object{"path": name, "content": "1"}), object{"decision": "approve", "decisionId": "workspace"}); r.IsError {
			t.Fatalf("%v", r.StructuredContent)
		}
	}
	check.Has(t, "the list", pillion(t, e, "rules"), "\n   1  write_file(a.txt)  ", "\n   4  write_file(d.txt)  ")
	var list struct {
		Rules []struct {
			Effect, Rule, From string
			Number             int
		}
	}
	if err := json.Unmarshal([]byte(pillion(t, e, "rules", "--json")), &list); err != nil || len(list.Rules) != 4 || list.Rules[1].Number != 2 || list.Rules[1].From != "remembered" || list.Rules[1].Effect != "allow" {
		t.Errorf("%+v, %v", list, err)
	}
	decides := func(name, want string) {
		t.Helper()
		wantDecision(t, e, "write_file", object{"path": name, "content": "2"}, want)
	}
	pillion(t, e, "rules", "forget", "2")
	decides("b.txt", "ask")
	decides("c.txt", "run")
	pillion(t, e, "rules", "forget", "write_file(a.txt)")
	decides("a.txt", "ask")
	decides("c.txt", "run")
	pillion(t, e, "rules", "forget", "--all")
	decides("c.txt", "ask")
	check.Has(t, "the list", pillion(t, e, "rules"), "There are none.")
}

// TestACommandOfAnAgentCannotTrust: it has no terminal.
func TestACommandOfAnAgentCannotTrust(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file"]}}`)
	r := asked(t, e, e.Start("run_command", object{"command": "echo 2 | PILLION_TEST_MAIN=1 HOME='" + e.Home + "' '" + self(t) + "' trust"}), yes)
	if text, _ := r.StructuredContent["stderr"].(string); !strings.Contains(text, "only you can trust a project's settings") || r.StructuredContent["exit_code"] != 1.0 {
		t.Errorf("%v", r.StructuredContent)
	}
	wantDecision(t, e, "write_file", write, "ask")
}

// TestARuleForAFolderOfSeveral is kept as if the folder were open by itself.
func TestARuleForAFolderOfSeveral(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	kettle, teapot := filepath.Join(base, "kettle"), filepath.Join(base, "teapot")
	for _, dir := range []string{kettle, teapot} {
		must(t, os.Mkdir(dir, 0o755))
	}
	e := spawn(t, testrig.Options{Dirs: []string{kettle, teapot}})
	for tool, arguments := range map[string]object{
		"write_file": {"path": "kettle/a.txt", "content": "1"}, "run_command": {"command": "true", "cwd": "kettle"},
	} {
		if r := asked(t, e, e.Start(tool, arguments), object{"decision": "approve", "decisionId": "workspace"}); r.IsError {
			t.Fatalf("%v", r.StructuredContent)
		}
	}
	wantDecision(t, e, "write_file", object{"path": "kettle/a.txt", "content": "2"}, "run")
	wantDecision(t, e, "write_file", object{"path": "teapot/a.txt", "content": "2"}, "ask")
	wantDecision(t, e, "run_command", object{"command": "true", "cwd": "kettle"}, "run")
	wantDecision(t, e, "run_command", object{"command": "true", "cwd": "teapot"}, "ask")
	list := pillion(t, e, "rules", "-C", kettle)
	check.Has(t, "the list", list, "write_file(a.txt)", "run_command(true) ")
	alone := spawn(t, testrig.Options{Dirs: []string{kettle}, Home: e.Home})
	wantDecision(t, alone, "write_file", object{"path": "a.txt", "content": "2"}, "run")
	wantDecision(t, alone, "run_command", object{"command": "true"}, "run")
	wantDecision(t, alone, "run_command", object{"command": "true", "cwd": "."}, "run")
}

// TestNothingIsRememberedForAnAgentAlone: who answers there may be the agent's own
// program.
func TestNothingIsRememberedForAnAgentAlone(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	door, err := sidecar.Alone([]string{t.TempDir()}, session.Agent{Name: "tester", Via: "mcp"}, approval.Nobody{}, nil)
	must(t, err)
	need := door.Registry.ApprovalRequest(t.Context(), tools.Call{Name: "write_file", Arguments: json.RawMessage(`{"path": "a", "content": ""}`), Session: door.Session})
	if len(need.Decisions) != 5 || slices.ContainsFunc(need.Decisions, func(c approval.Choice) bool { return c.Scope == approval.Workspace }) {
		t.Errorf("on offer: %+v", need.Decisions)
	}
	if err := door.Close(); err != nil {
		t.Error(err)
	}
}
