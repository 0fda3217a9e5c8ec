package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
)

// fivePatch edits all five places of far, in an order of its own: as git diff has it.
func fivePatch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": far, "b": replaced(far, "= 1", "= 10", "= 2", "= 20", "= 3", "= 30", "= 4", "= 40", "= 5", "= 50")} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command("git", "diff", "--no-index", "a", "b")
	cmd.Dir = dir
	out, _ := cmd.Output() // exit code 1: they differ
	_, hunks, found := strings.Cut(string(out), "\n@@")
	if !found {
		t.Fatalf("git diff says %q", out)
	}
	return "--- a/app.py\n+++ b/app.py\n@@" + hunks
}

// review is patch/review as a client reads it.
type review struct {
	ReviewID, SessionID, Message string
	Agent                        struct{ Name, Via string }
	Files                        []struct {
		Path, URI, Operation, Before, After string
		Hunks                               []struct {
			ID, Header string
			Lines      []string
		}
	}
}

func startReview(t *testing.T, e *testrig.Editor) (*testrig.Review, review, <-chan testrig.Result) {
	e.Write("app.py", far)
	done := e.Start("apply_patch_review", object{"diff": fivePatch(t), "message": "which?\u202e"})
	r := testrig.Wait(t, e.Reviews, "the review")
	var p review
	must(t, json.Unmarshal(r.Raw, &p))
	return r, p, done
}

func TestPatchReview(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	r, p, done := startReview(t, e)
	if p.ReviewID == "" || p.SessionID != "editor" || p.Agent.Via != "editor" || p.Message != `which?\u202e` || len(p.Files) != 1 {
		t.Errorf("patch/review: %s", r.Raw)
	}
	f := p.Files[0]
	if f.Path != "app.py" || f.URI != testrig.URI(filepath.Join(e.Dir, "app.py")) || f.Operation != "overwrite" || f.Before != far || !strings.Contains(f.After, "five = 50") || len(f.Hunks) != 5 {
		t.Errorf("the file: %+v", f)
	}
	if h := f.Hunks[1]; h.ID != "2" || !strings.HasPrefix(h.Header, "@@ -19,7 +19,7 @@") || len(h.Lines) != 8 || h.Lines[3] != "-two = 2" {
		t.Errorf("a hunk: %+v", h)
	}
	mine := replaced(far, "one = 1", "one = 10", "three = 3", "three = 33", "five = 5", "five = 50")
	r.Answer <- object{"action": "apply", "selected": []string{"1", "3", "5"}, "edited": object{"app.py": mine}}
	result := testrig.Wait(t, done, "the result")
	s := result.StructuredContent
	if chosen, _ := json.Marshal(s["chunks_selected"]); s["ok"] != true || s["action"] != "apply" || s["edited"] != true || string(chosen) != "[1,3,5]" || s["chunks_total"] != 5.0 {
		t.Errorf("result: %v", s)
	}
	wantText(t, e, "app.py", far)
	patch, _ := s["filtered_diff"].(string)
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir, cmd.Stdin = e.Dir, strings.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(e.Dir))
	if out, err := cmd.CombinedOutput(); err != nil || e.Read("app.py") != mine {
		t.Errorf("git apply: %v %s, on disk %q", err, out, e.Read("app.py"))
	}
}

func TestPatchReviewCancelled(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]any{
		"with a reason":     object{"action": "cancel", "selected": []string{"1"}, "feedback": "one at a time"},
		"nothing is taken":  object{"action": "apply", "selected": []string{}, "feedback": "one at a time"},
		"an action of none": object{"action": "perhaps", "selected": []string{"1"}, "feedback": "one at a time"},
	} {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, testrig.Options{})
			r, _, done := startReview(t, e)
			r.Answer <- answer
			result := testrig.Wait(t, done, "the result")
			if s := result.StructuredContent; s["ok"] != true || s["action"] != "cancel" || s["filtered_diff"] != "" || s["feedback"] != "one at a time" {
				t.Errorf("result: %v", s)
			}
			e.Call("read_file", object{"path": "app.py"}).Want(t, "") // the session goes on
		})
	}
}

func TestPatchReviewWithoutAView(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Whole: true})
	e.Write("app.py", far)
	done := e.Start("apply_patch_review", object{"diff": fivePatch(t)})
	p := testrig.Wait(t, e.Prompts, "the question")
	if len(p.Actions) != 2 || p.Actions[0] != "Take nothing" || !strings.Contains(p.Message, "-one = 1\n+one = 10\n") {
		t.Errorf("asked %q %q", p.Message, p.Actions)
	}
	p.Answer <- p.Actions[1]
	if s := testrig.Wait(t, done, "the result").StructuredContent; s["action"] != "apply" || s["chunks_total"] != 5.0 || !strings.Contains(s["filtered_diff"].(string), "+five = 50") {
		t.Errorf("result: %v", s)
	}
}

func TestPatchReviewInAMessageBox(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true})
	e.Write("app.py", far)
	box, done := e.AskInBox("apply_patch_review", object{"diff": fivePatch(t)})
	box.Answer <- "Take nothing"
	if s := testrig.Wait(t, done, "the result").StructuredContent; s["action"] != "cancel" {
		t.Errorf("result: %v", s)
	}
}

func TestPatchReviewThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write("app.py", far)
	begin(t.Context(), e, "apply_patch_review", object{"diff": fivePatch(t)}) // it is paused
	r := testrig.Wait(t, e.Reviews, "the review")
	e.Must("session/pause", object{}, nil)
	testrig.Wait(t, r.Ctx.Done(), "the end of the review")
}

func TestPatchReviewWithNobodyThere(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true})
	e.OnBox = func() (any, error) { return nil, wire.Errorf(wire.CodeMethodNotFound, "no boxes here") }
	e.Write("app.py", far)
	e.Call("apply_patch_review", object{"diff": fivePatch(t)}).Want(t, "APPROVAL_UNAVAILABLE")
}

// TestAPatchIsApprovedInParts: files of every kind, of which some are taken.
func TestAPatchIsApprovedInParts(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	for name, text := range map[string]string{"app.py": far, "goes.py": "goes\n", "stays.py": "stays\n", "old.py": "old\n"} {
		e.Write(name, text)
	}
	patch := fivePatch(t) +
		"diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+new\n" +
		"diff --git a/goes.py b/goes.py\ndeleted file mode 100644\n--- a/goes.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-goes\n" +
		"diff --git a/stays.py b/stays.py\ndeleted file mode 100644\n--- a/stays.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-stays\n" +
		"diff --git a/old.py b/moved.py\nsimilarity index 100%\nrename from old.py\nrename to moved.py\n"
	a, done := e.Ask("apply_patch", object{"diff": patch})
	ids := map[string]string{}
	for _, f := range files(t, a) {
		for _, h := range f.Hunks {
			ids[f.Path+" "+h.Header] = h.ID
		}
	}
	if len(ids) != 9 {
		t.Fatalf("on offer: %v", ids)
	}
	r := answered(t, a, done, object{"decision": "approve", "selected": []string{ids["goes.py deleted"], ids["app.py @@ -19,7 +19,7 @@ one = 1"]}})
	wantText(t, e, "app.py", replaced(far, "two = 2", "two = 20"))
	wantText(t, e, "goes.py", "")
	wantText(t, e, "stays.py", "stays\n")
	wantText(t, e, "new.py", "")
	wantText(t, e, "old.py", "old\n")
	left, _ := r.StructuredContent["human_diff"].(string)
	check.Has(t, "what was left out", left, "left out: creating new.py\n", "left out: deleting stays.py\n", "left out: moving old.py to moved.py\n", "-three = 30\n+three = 3\n")
	modified, _ := json.Marshal(r.StructuredContent["files_modified"])
	var rows []string
	for _, row := range r.StructuredContent["results"].([]any) {
		row := row.(object)
		rows = append(rows, fmt.Sprint(row["path"], " ", row["operation"], " ", row["hunks_applied"], " +", row["additions"], " -", row["deletions"]))
	}
	if got := strings.Join(rows, "; "); string(modified) != `["app.py","goes.py"]` ||
		got != "app.py overwrite 1 +1 -1; new.py unchanged 0 +0 -0; goes.py delete 1 +0 -1; stays.py unchanged 0 +0 -0; old.py unchanged 0 +0 -0" {
		t.Errorf("modified %s: %s", modified, got)
	}
}

// TestAPatchThatFitsNoMoreEndsItsDialog: the text that it wants is gone while the user
// looks, and the agent is told of each file.
func TestAPatchThatFitsNoMoreEndsItsDialog(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{})
	e.Write("app.py", far)
	e.Write("other.py", "old\n")
	both := fivePatch(t) + "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-old\n+new\n"
	done := e.Start("apply_patch", object{"diff": both})
	testrig.Wait(t, e.Approvals, "the dialog")
	mine := replaced(far, "three = 3", "mine = 3")
	e.Write("app.py", mine)
	check.Has(t, "approval/resolved", string(testrig.Wait(t, e.Resolved, "approval/resolved")), `"stale"`)
	r := testrig.Wait(t, done, "the result")
	rows, _ := r.StructuredContent["results"].([]any)
	if r.Code() != "PATCH_APPLY_FAILED" || len(rows) != 2 || r.StructuredContent["applied"] != false || !strings.Contains(r.Text(), "mine·=·3") {
		t.Errorf("result: %v\n%s", r.StructuredContent, r.Text())
	}
	wantText(t, e, "app.py", mine)
	wantText(t, e, "other.py", "old\n")
}
