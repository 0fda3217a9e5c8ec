package test

import (
	"encoding/json"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// kinds are what our plugins declare: plans and reviews come as approvals.
var kinds = testrig.Options{Kinds: []string{"plan", "review"}}

func TestAPlanAsAnApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   object
		approved any
		code     string
		outcome  string
	}{
		"approved":              {object{"decision": "approve"}, true, "", "approved"},
		"rejected":              {object{"decision": "reject", "feedback": "smaller steps"}, false, "", "rejected"},
		"edited":                {object{"decision": "edit", "modifiedArguments": object{"plan": "# Plan\n1. test it"}}, true, "", "edited"},
		"edited without a plan": {object{"decision": "edit", "feedback": "smaller steps"}, false, "", "edited"},
		"cancelled":             {object{"decision": "cancel"}, nil, "CANCELLED", "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			e := spawnWithApp(t, kinds)
			e.Must("session/setMode", object{"mode": "plan"}, nil)
			a, done := e.Ask("exit_plan_mode", object{"plan": "# Plan\n1. mend\u202e it"})
			preview := a.Params["preview"].(object)
			if preview["kind"] != "plan" || preview["question"] != "Carry out this plan?" || len(preview["lines"].([]any)) != 2 || preview["lines"].([]any)[1] != `1. mend\u202e it` {
				t.Errorf("the plan: %v", preview)
			}
			a.Answer <- c.answer
			r := testrig.Wait(t, done, "the result")
			if r.StructuredContent["approved"] != c.approved || r.Code() != c.code {
				t.Errorf("result: %v", r.StructuredContent)
			}
			if own, _ := c.answer["modifiedArguments"].(object); own["plan"] != r.StructuredContent["plan"] {
				t.Errorf("the agent's plan: %v", r.StructuredContent)
			}
			check.Has(t, "its end", string(testrig.Wait(t, e.Resolved, "the end")), `"outcome":"`+c.outcome+`"`)
		})
	}
}

func TestAReviewAsAnApproval(t *testing.T) {
	t.Parallel()
	mine := replaced(far, "one = 1", "one = 10", "three = 3", "three = 33")
	for name, c := range map[string]struct {
		answer object
		chunks int
		has    string
	}{
		"all of it":           {object{"decision": "approve"}, 5, "+five = 50"},
		"two hunks":           {object{"decision": "approve", "selected": []string{"1", "3"}}, 2, "+three = 30"},
		"with text of theirs": {object{"decision": "edit", "selected": []string{"1", "3"}, "after": object{"app.py": mine}}, 2, "+three = 33"},
		"cancelled":           {object{"decision": "reject", "feedback": "not now"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, kinds)
			e.Write("app.py", far)
			a, done := e.Ask("apply_patch_review", object{"diff": fivePatch(t), "message": "which?"})
			f := files(t, a)[0]
			if h := f.Hunks[1]; a.Params["preview"].(object)["kind"] != "review" || len(f.Hunks) != 5 || h.Before == nil || h.Before.End-h.Before.Start != 1 || h.Title != "22: two = 20" {
				t.Errorf("the file: %+v", f)
			}
			a.Answer <- c.answer
			s := testrig.Wait(t, done, "the result").StructuredContent
			if diff, _ := s["filtered_diff"].(string); len(s["chunks_selected"].([]any)) != c.chunks || !strings.Contains(diff, c.has) || e.Read("app.py") != far {
				t.Errorf("result: %v", s)
			}
		})
	}
}

func TestPlanReview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   any
		approved any
		code     string
		mode     string
	}{
		"approved":         {object{"decision": "approve", "feedback": "mind the tests"}, true, "", "default"},
		"rejected":         {object{"decision": "reject", "feedback": "smaller steps"}, false, "", "plan"},
		"cancelled":        {object{"decision": "cancel"}, nil, "CANCELLED", "plan"},
		"a decision of no": {object{"decision": "perhaps"}, false, "", "plan"},
		"no answer at all": {object{}, false, "", "plan"},
	} {
		t.Run(name, func(t *testing.T) {
			e := spawnWithApp(t, testrig.Options{})
			e.Must("session/setMode", object{"mode": "plan"}, nil)
			e.Call("edit_file", edit).Want(t, "POLICY_DENIED") // an edit in plan mode
			done := e.Start("exit_plan_mode", object{"plan": "# Plan\n1. mend it"})
			p := testrig.Wait(t, e.Plans, "the plan")
			var params struct{ PlanID, Plan, SessionID string }
			if err := json.Unmarshal(p.Raw, &params); err != nil || params.PlanID == "" || params.Plan != "# Plan\n1. mend it" || params.SessionID != "editor" {
				t.Errorf("plan/review: %s", p.Raw)
			}
			p.Answer <- c.answer
			r := testrig.Wait(t, done, "the result")
			if r.StructuredContent["approved"] != c.approved || r.Code() != c.code {
				t.Errorf("result: %v", r.StructuredContent)
			}
			check.Same(t, "the mode", sessions(e)[0].Mode, c.mode)
		})
	}
}

func TestAPlanWithoutPlugin(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Plain: true})
	e.Must("session/setMode", object{"mode": "plan"}, nil)
	box, done := e.AskInBox("exit_plan_mode", object{"plan": "# Plan"})
	check.Has(t, "the box", box.Message, "# Plan")
	box.Answer <- "Carry out this plan"
	if r := testrig.Wait(t, done, "the result"); r.StructuredContent["approved"] != true {
		t.Errorf("result: %v", r.StructuredContent)
	}
}
