package test

import (
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/workspace/document"
)

// TestAMergedResultIsShownAsSuch: what the user typed since the agent read the file stays,
// the dialog says so, and the yes of the user is for both changes together.
func TestAMergedResultIsShownAsSuch(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	e.Open("app.py")
	if r := e.Call("read_file", object{"path": "app.py"}); r.IsError {
		t.Fatal(r.Text())
	}
	typed := "# typed\n" + app
	e.Type("app.py", document.Range{}, "# typed\n")
	a, done := e.Ask("write_file", object{"path": "app.py", "content": strings.Replace(app, "[1, 2]", "[1, 2, 3]", 1)})
	want := strings.Replace(typed, "[1, 2]", "[1, 2, 3]", 1)
	if a.File("merged") != true || a.File("after") != want || a.File("before") != typed {
		t.Errorf("the dialog: merged %v, %q", a.File("merged"), a.File("after"))
	}
	r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
	if r.StructuredContent["merged"] != true || e.Buffer("app.py").Text != want || e.Read("app.py") != app {
		t.Errorf("merged %v, in the buffer %q", r.StructuredContent["merged"], e.Buffer("app.py").Text)
	}
}
