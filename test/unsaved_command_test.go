package test

import (
	"testing"

	"pillion/internal/testrig"
)

// A dialog of a command on files with unsaved text, with app.py among them.
func askWithUnsaved(t *testing.T, line string) (*testrig.Editor, <-chan testrig.Result, *testrig.Approval) {
	t.Helper()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# mine\n")
	a, done := e.Ask("run_command", object{"command": line})
	if preview, _ := a.Params["preview"].(object); len(unsavedOf(preview)) != 1 {
		t.Fatalf("preview: %v", preview)
	}
	return e, done, a
}

func unsavedOf(preview object) []any {
	unsaved, _ := preview["unsaved"].([]any)
	return unsaved
}

// TestSaveAndRun: what the user saves while they look changes nothing of what they
// judged, so the yes that they give in the same breath counts, and the command sees
// their text.
func TestSaveAndRun(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py")
	e.Save("app.py")
	s := answered(t, a, done, yes).StructuredContent
	if s["stdout"] != "# mine\n"+app || s["unsaved"] != nil {
		t.Errorf("result: %v", s)
	}
}

// TestSavingIsFollowed: the dialog says that nothing is unsaved any more, and a yes
// to what it showed before is still one.
func TestSavingIsFollowed(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py")
	e.Save("app.py")
	changed := heard[changedTold](t, e.Changed, "approval/changed")
	if len(unsavedOf(changed.Preview)) != 0 || !changed.Moved {
		t.Errorf("approval/changed: %+v", changed)
	}
	if s := answered(t, a, done, yes).StructuredContent; s["stdout"] != "# mine\n"+app {
		t.Errorf("result: %v", s)
	}
}

// TestWhatBecomesUnsavedIsAskedAgain: a yes to a command that would see all does not
// hold for one that would miss something.
func TestWhatBecomesUnsavedIsAskedAgain(t *testing.T) {
	t.Parallel()
	e, done, a := askWithUnsaved(t, "cat app.py other.py")
	e.Write("other.py", "x\n")
	e.Open("other.py")
	e.Type("other.py", at(0, 0), "y")
	a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
	again := testrig.Wait(t, e.Approvals, "the next dialog")
	if preview, _ := again.Params["preview"].(object); len(unsavedOf(preview)) != 2 {
		t.Errorf("preview: %v", preview)
	}
	again.Answer <- object{"decision": "reject"}
	testrig.Wait(t, done, "the result")
}
