package policy

import "testing"

func TestRulesForSubjects(t *testing.T) {
	task := func(name string) Request {
		return Request{Tool: "task", Access: Exec, Mode: Default, Subject: name}
	}
	for _, c := range []struct {
		rule, name        string
		allows, restricts bool
	}{
		{"task", "qwen", true, true},
		{"task(qwen)", "qwen", true, true},
		{"task(qwen)", "qwen-2", false, false},
		{"task(Qwen)", "qwen", false, true}, // wide where it restricts
		{"task(q*)", "qwen", true, true},
		{"run_command(qwen)", "qwen", false, false},
	} {
		rule := mustParse(t, c.rule)
		r := task(c.name)
		r.Rules.Allow = []Rule{rule}
		if got := Decide(r).Verdict == Run; got != c.allows {
			t.Errorf("%s allows %s: %t", c.rule, c.name, got)
		}
		if got := CoversSubject([]Rule{rule}, "task", c.name); got != c.allows {
			t.Errorf("%s covers %s: %t", c.rule, c.name, got)
		}
		r = task(c.name)
		r.Rules.Deny = []Rule{rule}
		if got := Decide(r).Verdict == Refuse; got != c.restricts {
			t.Errorf("%s denies %s: %t", c.rule, c.name, got)
		}
	}
	if d := Decide(task("qwen")); len(d.Offers) != 1 || d.Offers[0].Rule.String() != "task(qwen)" {
		t.Errorf("offered: %+v", d.Offers)
	}
	r := Request{Tool: "task_permission", Access: Exec, Mode: FullAccess, Command: &Command{Line: "rm -r x", POSIX: true}}
	if Decide(r).Verdict != Run {
		t.Error("a sub-agent's own command asks in full access")
	}
	r.Rules.Deny = []Rule{mustParse(t, "run_command(rm *)")}
	if Decide(r).Verdict != Refuse {
		t.Error("what may not be run may be run by a sub-agent itself")
	}
}
