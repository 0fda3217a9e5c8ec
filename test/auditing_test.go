package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/audit"
	"pillion/internal/testrig"
)

// audited ends the sidecar and gives what its log holds.
func audited(t *testing.T, e *testrig.Editor) (dir string, calls []audit.Entry) {
	t.Helper()
	e.Stop()
	dir = filepath.Join(e.Home, ".local/state/pillion/audit")
	r, err := audit.Verify(dir)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	must(t, audit.Read(dir, func(e audit.Entry) bool { calls = append(calls, e); return true }))
	return dir, calls
}

// TestEveryCallIsInTheAuditLog: who called what, who allowed it, what became of it.
func TestEveryCallIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{Settings: object{"permissions": object{"allow": []string{"run_command(echo *)", "write_file(free.txt)"}, "deny": []string{"delete_file"}}}})
	answer := func(decision string) {
		a := testrig.Wait(t, e.Approvals, "the dialog")
		a.Answer <- object{"decision": decision, "digest": a.Text("digest")}
	}
	e.Call("read_file", object{"path": "app.py"})
	done := e.Start("edit_file", edit)
	answer("approve")
	testrig.Wait(t, done, "the edit")
	e.Call("edit_file", object{"path": "app.py", "old_string": "nowhere in it", "new_string": "3"})
	e.Call("write_file", object{"path": "free.txt", "content": "TOPSECRET\n"})
	e.Call("run_command", object{"command": "echo a word"})
	e.Call("read_file", object{"path": "../../etc/passwd"})
	e.Call("delete_file", object{"path": "app.py"})
	e.Call("write_file", object{"path": ".git/hooks/x", "content": "x"})
	e.Call("no_such_tool", object{})
	done = e.Start("delete_file", object{"path": "free.txt"})
	testrig.Wait(t, done, "the refusal")
	done = e.Start("write_file", object{"path": "b.txt", "content": "b"})
	answer("reject")
	testrig.Wait(t, done, "the rejection")

	dir, calls := audited(t, e)
	var got []string
	for _, c := range calls {
		what := slices.Concat(c.Paths, []string{c.Command})
		for _, f := range c.Files {
			what = append(what, f.Operation+" "+f.Path)
			if len(f.After) != 32 || f.Operation == "overwrite" && len(f.Before) != 32 {
				t.Errorf("hashes of %+v", f)
			}
		}
		got = append(got, strings.Join(strings.Fields(strings.Join([]string{c.Tool, c.Decision, c.By, c.Answer, c.Outcome, c.Code, strings.Join(what, " ")}, " ")), " "))
		if c.Session == "" || c.Agent == "" || c.Call == "" || c.Folder == "" || c.Time.IsZero() {
			t.Errorf("not all is said: %+v", c)
		}
	}
	want := []string{
		"read_file run mode done app.py",
		"edit_file ask human approve done overwrite app.py",
		"edit_file failed EDIT_NO_MATCH app.py",
		"write_file run rule done create free.txt",
		"run_command run rule done echo a word",
		"read_file failed PATH_OUTSIDE_WORKSPACE ../../etc/passwd",
		"delete_file refuse rule failed POLICY_DENIED app.py",
		"write_file refuse policy failed POLICY_DENIED .git/hooks/x",
		"no_such_tool failed TOOL_NOT_FOUND",
		"delete_file refuse rule failed POLICY_DENIED free.txt",
		"write_file ask human reject failed USER_REJECTED b.txt",
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d calls: %s", len(got), strings.Join(got, "\n"))
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), "TOPSECRET") {
			t.Errorf("%s holds what a file does: %v", name, err)
		}
	}
}

// TestWhatTheAuditLogKeeps is the user's to say, and a project's only to add to.
func TestWhatTheAuditLogKeeps(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]func(c audit.Entry) bool{
		"brief": func(c audit.Entry) bool { return c.Command == "" && len(c.CommandHash) == 64 },
		"off":   nil,
	} {
		e := spawn(t, testrig.Options{Settings: object{"audit": kept, "permissions": object{"allow": []string{"run_command(echo *)"}}}})
		e.Call("run_command", object{"command": "echo password"})
		_, calls := audited(t, e)
		if want == nil && len(calls) > 0 || want != nil && (len(calls) != 1 || !want(calls[0])) {
			t.Errorf("%s keeps %+v", kept, calls)
		}
	}
}
