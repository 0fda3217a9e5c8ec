package test

import (
	"encoding/json"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

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
