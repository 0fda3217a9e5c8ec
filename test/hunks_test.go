package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// far has five places that are a hunk each when all are edited.
var far = strings.Repeat("# top\n", 10) + strings.Join([]string{"one = 1\n", "two = 2\n", "three = 3\n", "four = 4\n", "five = 5\n"}, strings.Repeat("# between\n", 10))

// startFive has an agent edit all five places, and gives the dialog.
func startFive(t *testing.T, e *testrig.Editor) (*testrig.Approval, <-chan testrig.Result) {
	e.Write("app.py", far)
	var edits []any
	for _, line := range []string{"one = 1", "two = 2", "three = 3", "four = 4", "five = 5"} {
		edits = append(edits, object{"old_string": line, "new_string": line + "0"})
	}
	a, done := e.Ask("edit_file", object{"path": "app.py", "edits": edits})
	if ids := hunkIDs(t, a); strings.Join(ids, " ") != "1 2 3 4 5" {
		t.Fatalf("the hunks are %v", ids)
	}
	return a, done
}

// shownFile is a file of a preview.
type shownFile struct {
	Path  string
	Hunks []struct {
		ID, Header, Title string
		Before            *struct{ Start, End int }
	}
}

func files(t *testing.T, a *testrig.Approval) []shownFile {
	t.Helper()
	var params struct {
		Preview struct{ Files []shownFile }
	}
	must(t, json.Unmarshal(a.Raw, &params))
	return params.Preview.Files
}

// hunkIDs are the ids of a preview's hunks, over all files.
func hunkIDs(t *testing.T, a *testrig.Approval) (out []string) {
	for _, f := range files(t, a) {
		for _, h := range f.Hunks {
			out = append(out, h.ID)
		}
	}
	return out
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

func TestExactlyTheChosenHunksAreMade(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	a, done := startFive(t, e)
	r := answered(t, a, done, object{"decision": "approve", "selected": []string{"5", "1", "4"}})
	wantText(t, e, "app.py", replaced(far, "one = 1", "one = 10", "four = 4", "four = 40", "five = 5", "five = 50"))
	left, _ := r.StructuredContent["human_diff"].(string)
	if r.StructuredContent["edited_by_human"] != true || !strings.Contains(left, "-two = 20\n+two = 2\n") || !strings.Contains(left, "-three = 30\n+three = 3\n") || strings.Contains(left, "-one") {
		t.Errorf("result: %v", r.StructuredContent)
	}
	check.Has(t, "what the agent reads", r.Text(), "The user chose 3 of 5 hunks")
	check.Same(t, "additions", r.StructuredContent["additions"], 3.0)
	// The agent knows the file as it is now: it need not read it to write it anew.
	b, second := e.Ask("write_file", object{"path": "app.py", "content": "x\n"})
	check.Lacks(t, "the second question", string(b.Raw), "has not read")
	b.Answer <- object{"decision": "reject"}
	testrig.Wait(t, second, "the second result")
}

// TestWhatAChoiceOfHunksMeans: all are a plain yes, none is a no, and the user's own text goes
// before their choice.
func TestWhatAChoiceOfHunksMeans(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	all := replaced(far, "= 1", "= 10", "= 2", "= 20", "= 3", "= 30", "= 4", "= 40", "= 5", "= 50")
	mine := replaced(far, "one = 1", "one = 111")
	for name, c := range map[string]struct {
		answer              object
		text, code, outcome string
		edited              any
	}{
		"all":           {object{"decision": "approve", "selected": []string{"1", "2", "3", "4", "5"}}, all, "", "approved", nil},
		"none":          {object{"decision": "approve", "selected": []string{}, "feedback": "none of it"}, far, "USER_REJECTED", "rejected", nil},
		"none, edited":  {object{"decision": "edit", "selected": []string{}, "feedback": "none of it"}, far, "USER_REJECTED", "rejected", nil},
		"one, and text": {object{"decision": "edit", "selected": []string{"2"}, "after": object{"app.py": mine}}, mine, "", "edited", true},
	} {
		a, done := startFive(t, e)
		r := answered(t, a, done, c.answer)
		if r.Code() != c.code || r.StructuredContent["edited_by_human"] != c.edited || c.code != "" && !strings.Contains(r.Text(), "none of it") || e.Read("app.py") != c.text {
			t.Errorf("%s: %v, on disk %q", name, r.StructuredContent, e.Read("app.py"))
		}
		check.Has(t, "the end of "+name, string(testrig.Wait(t, e.Resolved, "approval/resolved")), `"outcome":"`+c.outcome+`"`)
	}
}

// TestChosenHunksMoveWithTheirText: while the user looks, lines come in above.
func TestChosenHunksMoveWithTheirText(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	a, done := startFive(t, e)
	e.Write("app.py", "# new\n# lines\n"+far)
	if changed := heard[changedTold](t, e.Changed, "approval/changed"); !changed.Moved {
		t.Fatalf("approval/changed: %+v", changed)
	}
	answered(t, a, done, object{"decision": "approve", "selected": []string{"1", "3"}})
	wantText(t, e, "app.py", "# new\n# lines\n"+replaced(far, "one = 1", "one = 10", "three = 3", "three = 30"))
}

// TestHunksOfAnotherTextAreAskedAgain: what stands in a hunk has become another.
func TestHunksOfAnotherTextAreAskedAgain(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	a, done := startFive(t, e)
	other := replaced(far, "# between\ntwo", "# other\ntwo")
	e.Write("app.py", other)
	testrig.Wait(t, e.Changed, "approval/changed")
	a.Answer <- object{"decision": "approve", "selected": []string{"1", "3"}, "digest": a.Text("digest")}
	b := testrig.Wait(t, e.Approvals, "the second dialog")
	if len(hunkIDs(t, b)) != 5 || e.Read("app.py") != other {
		t.Errorf("asked again about %v, on disk %q", hunkIDs(t, b), e.Read("app.py"))
	}
	answered(t, b, done, object{"decision": "approve", "selected": []string{"2"}})
	wantText(t, e, "app.py", replaced(other, "two = 2", "two = 20"))
}

func TestChosenHunksInABuffer(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write("app.py", far)
	e.Open("app.py")
	e.Type("app.py", at(0, 0), "# unsaved\n")
	done := e.Start("edit_file", object{"path": "app.py", "edits": []any{
		object{"old_string": "one = 1", "new_string": "one = 10"}, object{"old_string": "five = 5", "new_string": "five = 50"},
	}})
	r := asked(t, e, done, object{"decision": "approve", "selected": []string{"2"}})
	if want := "# unsaved\n" + replaced(far, "five = 5", "five = 50"); e.Buffer("app.py").Text != want || e.Read("app.py") != far || r.StructuredContent["saved"] != false {
		t.Errorf("in the buffer %q: %v", e.Buffer("app.py").Text, r.StructuredContent)
	}
}

func TestANewFileIsOneHunk(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	a, done := e.Ask("write_file", object{"path": "new.py", "content": "a\nb\n"})
	if ids := hunkIDs(t, a); len(ids) != 1 {
		t.Errorf("the hunks are %v", ids)
	}
	answered(t, a, done, object{"decision": "approve", "selected": []string{"1"}}).Want(t, "")
	wantText(t, e, "new.py", "a\nb\n")
}

// TestOneHunkIsOneBlock: two changes that share an @@ of the diff are two hunks, as editors show them.
func TestOneHunkIsOneBlock(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	const before = "one\n2\n3\n4\n5\nsix\n"
	e.Write("app.py", before)
	a, done := e.Ask("write_file", object{"path": "app.py", "content": "ONE\n2\n3\n4\n5\nSIX\n"})
	if ids, diff := hunkIDs(t, a), fmt.Sprint(a.File("diff")); strings.Join(ids, " ") != "1 2" || strings.Count(diff, "@@ -") != 1 {
		t.Fatalf("hunks %v of\n%s", ids, diff)
	}
	answered(t, a, done, object{"decision": "approve", "selected": []string{"2"}})
	wantText(t, e, "app.py", "one\n2\n3\n4\n5\nSIX\n")
}
