package test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig"
)

// TestADialogFollowsTheScriptThatItIsAbout: what a script on the line holds is part
// of the yes. A change while the dialog is open gives it another digest, and a yes
// to the old one runs nothing.
func TestADialogFollowsTheScriptThatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"sh build.sh", "make"} {
		t.Run(line, func(t *testing.T) {
			e := spawn(t, testrig.Options{})
			file := map[string]string{"sh build.sh": "build.sh", "make": "Makefile"}[line]
			script := e.Write(file, "all:\n\techo one\n")
			a, done := e.Ask("run_command", object{"command": line})
			e.Write(file, "all:\n\techo two >planted\n")
			changed := heard[changedTold](t, e.Changed, "approval/changed")
			if changed.Moved || changed.Digest == "" || changed.Digest == a.Text("digest") {
				t.Errorf("approval/changed: %+v", changed)
			}
			a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
			again := testrig.Wait(t, e.Approvals, "the second dialog")
			if again.Text("digest") == a.Text("digest") { // that of changed may be of the file half written
				t.Error("it asks about what the script was before")
			}
			answered(t, again, done, no).Want(t, "USER_REJECTED")
			if _, err := os.Stat(filepath.Join(filepath.Dir(script), "planted")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// TestAPatternForTheSession: the narrow rule that a dialog offers answers the next
// such command, in this session and in no other.
func TestAPatternForTheSession(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	call := func(session, line string) (*testrig.Approval, <-chan testrig.Result) {
		return askedOrDone(e, object{"name": "run_command", "arguments": object{"command": line}, "sessionId": session})
	}
	asked, done := call("one", "git status --short")
	if asked == nil {
		t.Fatal("nobody was asked")
	}
	answered(t, asked, done, object{"decision": "approve", "decisionId": "pattern"})
	if asked, done := call("one", "git status && git status -b | git status"); asked != nil {
		t.Errorf("asked again: %v", asked.Params)
	} else {
		testrig.Wait(t, done, "the result")
	}
	for _, c := range []struct{ session, line string }{{"two", "git status"}, {"one", "git status; id"}, {"one", "git status > out"}, {"one", "git status --unknown"}, {"one", "git status $(id)"}, {"one", "git log"}} {
		asked, done := call(c.session, c.line)
		if asked == nil {
			t.Errorf("%s ran in session %s", c.line, c.session)
			continue
		}
		asked.Answer <- object{"decision": "reject"}
		testrig.Wait(t, done, "the result")
	}
}
