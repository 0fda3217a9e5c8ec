package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

const settingsFile = ".pillion/settings.json"

var write = object{"path": "notes.txt", "content": "hi\n"}

// asks says whether a call would ask; nothing happens.
func asks(e *testrig.Editor, tool string, arguments object) string {
	need := ask[struct{ Decision string }](e, "tools/approval", object{"name": tool, "arguments": arguments})
	return need.Decision
}

func wantDecision(t *testing.T, e *testrig.Editor, tool string, arguments object, want string) {
	t.Helper()
	if got := asks(e, tool, arguments); got != want {
		t.Errorf("%s %v: %s, want %s", tool, arguments, got, want)
	}
}

// wantWrites is wantDecision for files that are written.
func wantWrites(t *testing.T, e *testrig.Editor, want map[string]string) {
	t.Helper()
	for name, decision := range want {
		wantDecision(t, e, "write_file", object{"path": name, "content": "new\n"}, decision)
	}
}

// trust waits for the question about a project's settings, and says yes.
func trust(t *testing.T, e *testrig.Editor) {
	t.Helper()
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	e.Must("settings/trust", object{"path": u.Path, "hash": u.Hash}, nil)
}

// settled waits until there is no question about a project's settings any more.
func settled(t *testing.T, e *testrig.Editor) {
	t.Helper()
	check.Same(t, "the rules in question", len(testrig.Wait(t, e.Untrusted, "the end of the question").Rules), 0)
}

// TestAProjectLoosensNothingUntilTrusted: neither at first, nor after its file has
// changed, and a trusted text holds at once.
func TestAProjectLoosensNothingUntilTrusted(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	file, err := filepath.EvalSymlinks(e.Write(settingsFile, `{"permissions": {"allow": ["write_file(*.txt)"], "deny": ["edit_file"]}, "mode": "auto_edit"}`))
	must(t, err)
	wantDecision(t, e, "write_file", write, "ask")
	e.Write("app.py", app)
	wantDecision(t, e, "edit_file", edit, "refuse") // what tightens holds untrusted
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	if want := []string{`mode auto_edit (yours: default)`, "allow write_file(*.txt)"}; u.Path != file || !slices.Equal(u.Rules, want) || len(u.Hash) != 64 {
		t.Errorf("%+v, want %q of %s", u, want, file)
	}
	// Only what is there now can be trusted.
	e.Refuses("settings/trust", object{"path": u.Path, "hash": strings.Repeat("0", 64)}, wire.CodeInvalidParams)    // another hash
	e.Refuses("settings/trust", object{"path": filepath.Join(e.Home, "x"), "hash": u.Hash}, wire.CodeInvalidParams) // another file
	wantDecision(t, e, "write_file", write, "ask")
	if !ask[struct{ Trusted bool }](e, "settings/trust", object{"path": u.Path, "hash": u.Hash}).Trusted {
		t.Error("it is not trusted")
	}
	wantDecision(t, e, "write_file", write, "run")
	settled(t, e)
	// One more byte, and nothing of it counts.
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(*.txt)"], "deny": ["edit_file"]}, "mode": "auto_edit"} `)
	wantDecision(t, e, "write_file", write, "ask")
	wantDecision(t, e, "edit_file", edit, "refuse")
	if u := testrig.Wait(t, e.Untrusted, "another question"); len(u.Rules) != 2 {
		t.Errorf("after it changed: %+v", u)
	}
	e.Refuses("settings/trust", object{"path": u.Path, "hash": u.Hash}, wire.CodeInvalidParams) // the hash of the text that was there
	// The text that was trusted is trusted, also in another window.
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(*.txt)"], "deny": ["edit_file"]}, "mode": "auto_edit"}`)
	wantDecision(t, e, "write_file", write, "run")
	other := spawn(t, testrig.Options{Home: e.Home, Dirs: []string{e.Dir}})
	wantDecision(t, other, "write_file", write, "run")
	// In another home, somebody else's, it is not.
	stranger := spawn(t, testrig.Options{Dirs: []string{e.Dir}})
	wantDecision(t, stranger, "write_file", write, "ask")
}

// TestANoHoldsUntilTheFileChanges: nobody is asked about that text again, in no window; it
// can be trusted still; and the request says what of the file would have no effect anyway.
func TestANoHoldsUntilTheFileChanges(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(*.txt)", "run_command(git *)"]}}`)
	u := testrig.Wait(t, e.Untrusted, "settings/untrusted")
	if len(u.Problems) != 1 || !strings.HasPrefix(u.Problems[0], `rule "run_command(git *)" is ignored: `) {
		t.Errorf("what has no effect: %q", u.Problems)
	}
	e.Refuses("settings/ignore", object{"path": u.Path, "hash": strings.Repeat("0", 64)}, wire.CodeInvalidParams) // another hash
	if !ask[struct{ Ignored bool }](e, "settings/ignore", object{"path": u.Path, "hash": u.Hash}).Ignored {
		t.Error("it still asks")
	}
	settled(t, e)
	wantDecision(t, e, "write_file", write, "ask")
	e.Stop()
	e = spawn(t, testrig.Options{Home: e.Home, Dirs: []string{e.Dir}})
	wantDecision(t, e, "write_file", write, "ask")
	check.Nothing(t, "it asks after a restart", e.Untrusted)
	e.Must("settings/trust", object{"path": u.Path, "hash": u.Hash}, nil)
	wantDecision(t, e, "write_file", write, "run")
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(**)"]}}`)
	if u := testrig.Wait(t, e.Untrusted, "another question"); !slices.Equal(u.Rules, []string{"allow write_file(**)"}) {
		t.Errorf("after it changed: %+v", u)
	}
	must(t, os.RemoveAll(filepath.Join(e.Dir, ".pillion"))) // which nobody calls about
	settled(t, e)
}

// TestTighteningHoldsAtOnce: while a call waits for its answer, too.
func TestTighteningHoldsAtOnce(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"mode": "auto_edit"}})
	e.Must("session/open", object{"sessionId": "s"}, nil)
	a, done := e.Ask("run_command", object{"command": "echo hi >made.txt"})
	e.Write(settingsFile, `{"mode": "plan", "permissions": {"deny": ["run_command"]}}`)
	answered(t, a, done, yes).Want(t, "POLICY_DENIED")
	wantText(t, e, "made.txt", "")
	all := sessions(e)
	for _, one := range all {
		check.Same(t, "the mode of "+one.SessionID, one.Mode, "plan")
	}
	check.Same(t, "the number of sessions", len(all), 2)
	// A mode that was chosen for a session is not a default any more.
	e.Must("session/setMode", object{"sessionId": "s", "mode": "full_access"}, nil)
	e.Write(settingsFile, `{"mode": "plan"}`)
	need := ask[struct{ Decision string }](e, "tools/approval", object{"name": "write_file", "arguments": write, "sessionId": "s"})
	if need.Decision != "run" {
		t.Errorf("in full_access: %s", need.Decision)
	}
	wantDecision(t, e, "write_file", write, "refuse")
}

// TestADialogDiesWithARuleThatDenies: without an answer.
func TestADialogDiesWithARuleThatDenies(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	done := e.Start("write_file", write)
	testrig.Wait(t, e.Approvals, "the dialog")
	e.Write(settingsFile, `{"permissions": {"deny": ["write_file"]}}`)
	testrig.Wait(t, done, "the result").Want(t, "POLICY_DENIED", "deny it with the rule write_file")
	check.Has(t, "the end of the dialog", string(testrig.Wait(t, e.Resolved, "approval/resolved")), `"stale"`)
}

// TestAFolderReachedByALink is the folder that the link leads to.
func TestAFolderReachedByALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	e := spawn(t, testrig.Options{Dirs: []string{link}})
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file"]}}`)
	wantDecision(t, e, "write_file", write, "ask")
	trust(t, e)
	wantDecision(t, e, "write_file", write, "run")
	other := spawn(t, testrig.Options{Dirs: []string{dir}, Home: e.Home})
	wantDecision(t, other, "write_file", write, "run")
}

// TestTwoFoldersOfWhichOneIsTrusted: what it allows holds there alone, and so does
// what the other one denies.
func TestTwoFoldersOfWhichOneIsTrusted(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	kettle, teapot := filepath.Join(base, "kettle"), filepath.Join(base, "teapot")
	for dir, text := range map[string]string{
		kettle: `{"permissions": {"allow": ["write_file(*.txt)", "run_command(make test)", "run_command(echo *)"]}, "limits": {"readBytes": 99999999}}`,
		teapot: `{"permissions": {"allow": ["write_file", "run_command"], "deny": ["write_file(lid/**)", "run_command(true)"]}}`,
	} {
		put(t, filepath.Join(dir, settingsFile), text)
	}
	e := spawn(t, testrig.Options{Dirs: []string{kettle, teapot}})
	for range 2 {
		if u := testrig.Wait(t, e.Untrusted, "settings/untrusted"); strings.HasPrefix(u.Path, kettle) {
			e.Must("settings/trust", object{"path": u.Path, "hash": u.Hash}, nil)
		}
	}
	for _, c := range []struct {
		tool string
		args object
		want string
	}{
		{"write_file", object{"path": "kettle/a.txt", "content": ""}, "run"},
		{"write_file", object{"path": "kettle/sub/a.txt", "content": ""}, "ask"},
		{"write_file", object{"path": "teapot/a.txt", "content": ""}, "ask"},
		{"write_file", object{"path": "teapot/lid/a", "content": ""}, "refuse"},
		{"write_file", object{"path": "kettle/lid/a", "content": ""}, "ask"},
		{"run_command", object{"command": "make test", "cwd": "kettle"}, "run"},
		{"run_command", object{"command": "make test", "cwd": "teapot"}, "ask"},
		{"run_command", object{"command": "echo hi " + kettle + "/a.txt", "cwd": "kettle"}, "run"},
		{"run_command", object{"command": "echo hi " + teapot + "/a.txt", "cwd": "kettle"}, "ask"},
		{"run_command", object{"command": "echo hi >../teapot/a.txt", "cwd": "kettle"}, "ask"},
		{"run_command", object{"command": "true", "cwd": "teapot"}, "refuse"},
		{"run_command", object{"command": "true", "cwd": "kettle"}, "ask"},
	} {
		wantDecision(t, e, c.tool, c.args, c.want)
	}
}

// TestHostileSettings: they are told of, what denies in them holds as far as it can
// be read, and nothing crashes.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want string // of write_file
	}{
		"a hundred megabytes":  {strings.Repeat(" ", 100<<20), "ask"},
		"deep":                 {strings.Repeat("[", 1<<20), "ask"},
		"deep, shut":           {strings.Repeat(`["]",`, 1<<17), "ask"},
		"broken":               {`{"permissions": {"allow": ["write_file"], "deny": ["write_file"]}, !`, "refuse"},
		"broken, with remarks": {"{ // why\n\"permissions\": {\"deny\": [{\"rule\": \"write_file\"}, /* so */", "refuse"},
		"not UTF-8":            {"{\"permissions\": {\"deny\": [\"write_file\"], \"allow\": [\"write_file\xff\"]}}", "refuse"},
		"control characters":   {`{"permissions": {"allow": ["write_file(\u001b[2K)", "write_file(\"\u202e\u0007\")"], "deny": ["write_file(\u0000)"]}}`, "ask"},
		"a list":               {`[1]`, "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := spawn(t, testrig.Options{})
			e.Write(settingsFile, test.text)
			wantDecision(t, e, "write_file", write, test.want)
		})
	}
}

// TestSettingsThatAreNoFile: a link is never trusted, and one that leaves the folder
// is not even read; a folder in its place is none.
func TestSettingsThatAreNoFile(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "settings.json")
	loose := []byte(`{"permissions": {"allow": ["write_file"], "deny": ["run_command"]}}`)
	must(t, os.WriteFile(outside, loose, 0o600))
	run := object{"command": "true"}
	e := spawn(t, testrig.Options{})
	place := e.Write(settingsFile, string(loose))
	wantDecision(t, e, "write_file", write, "ask")
	trust(t, e)
	wantDecision(t, e, "write_file", write, "run")
	testrig.Wait(t, e.Untrusted, "the end of the question")
	must(t, os.Remove(place))
	wantDecision(t, e, "run_command", run, "ask")
	must(t, os.Symlink(outside, place))
	wantDecision(t, e, "run_command", run, "ask")
	must(t, os.Remove(place))
	e.Write("inside.json", string(loose))
	must(t, os.Symlink("../inside.json", place))
	wantDecision(t, e, "run_command", run, "refuse")
	wantDecision(t, e, "write_file", write, "ask")
	check.Nothing(t, "the user is asked to trust a link", e.Untrusted)
	must(t, os.Remove(place))
	wantDecision(t, e, "run_command", run, "ask")
	must(t, os.Mkdir(place, 0o755))
	wantDecision(t, e, "run_command", run, "ask")
}

// TestEditorsWithoutAPluginTrustByCommand, and what they were shown.
func TestEditorsWithoutAPluginTrustByCommand(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true, Commands: true})
	if _, err := e.Execute("pillion.trustSettings"); code(err) != wire.CodeRequestFailed {
		t.Errorf("nothing waits: %v", err)
	}
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file(\"\u001b]0;x\")"]}}`)
	message := testrig.Wait(t, e.Messages, "window/showMessage")
	if !strings.Contains(message, settingsFile) || !strings.Contains(message, `allow write_file("\x1b]0;x")`) || !strings.Contains(message, "pillion.trustSettings") {
		t.Errorf("the message: %q", message)
	}
	e.Write(settingsFile, `{"permissions": {"allow": ["write_file"]}}`)
	check.Has(t, "the message", testrig.Wait(t, e.Messages, "a message on the new text"), "allow write_file\n")
	if answer, err := e.Execute("pillion.trustSettings"); err != nil || answer["trusted"] != true {
		t.Errorf("%v, %v", answer, err)
	}
	wantDecision(t, e, "write_file", write, "run")
}

// TestARuleForTheWorkspace: it is asked no more, in other sessions and after a
// restart; a session's rule is.
func TestARuleForTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ decision, other, restarted string }{
		{"session", "ask", "ask"},
		{"workspace", "run", "run"},
	} {
		t.Run(test.decision, func(t *testing.T) {
			e := spawn(t, testrig.Options{})
			a, done := e.Ask("write_file", write)
			if !strings.Contains(string(a.Raw), `"id":"`+test.decision+`"`) {
				t.Fatalf("on offer: %s", a.Raw)
			}
			if r := answered(t, a, done, object{"decision": "approve", "decisionId": test.decision}); r.IsError {
				t.Fatalf("%v", r.StructuredContent)
			}
			again := object{"path": "notes.txt", "content": "other\n"}
			wantDecision(t, e, "write_file", again, "run")
			wantDecision(t, e, "write_file", object{"path": "notes2.txt", "content": ""}, "ask")
			need := ask[struct{ Decision string }](e, "tools/approval", object{"name": "write_file", "arguments": again, "sessionId": "other"})
			if need.Decision != test.other {
				t.Errorf("in another session: %s", need.Decision)
			}
			e.Stop()
			e = spawn(t, testrig.Options{Home: e.Home, Dirs: []string{e.Dir}})
			wantDecision(t, e, "write_file", again, test.restarted)
			elsewhere := spawn(t, testrig.Options{Home: e.Home})
			wantDecision(t, elsewhere, "write_file", again, "ask")
		})
	}
}

// TestNoRuleForWhatIsProtected: neither on offer, nor of any use when it is kept.
func TestNoRuleForWhatIsProtected(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"permissions": object{"allow": []string{"write_file"}}}})
	protected := object{"path": settingsFile, "content": "{}"}
	a, done := e.Ask("write_file", protected)
	if decisions, _ := a.Params["decisions"].([]any); len(decisions) != 2 {
		t.Errorf("on offer: %v", decisions)
	}
	if r := answered(t, a, done, object{"decision": "approve", "decisionId": "workspace"}); r.Code() != "USER_REJECTED" { // it was not on offer
		t.Errorf("%v", r.StructuredContent)
	}
	wantDecision(t, e, "write_file", object{"path": settingsFile, "content": "{ }"}, "ask")
	if left, err := filepath.Glob(filepath.Join(e.Home, ".local/state/pillion/folders/*")); err != nil || len(left) > 0 {
		t.Errorf("kept: %v, %v", left, err)
	}
}
