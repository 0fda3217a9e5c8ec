package policy

import "testing"

func fetch(host string) Request {
	return Request{Tool: "web_fetch", Access: Network, Mode: Default, Host: host}
}

func task(name string) Request {
	return Request{Tool: "task", Access: Exec, Mode: Default, Subject: name}
}

func TestRulesForHostsAndSubjects(t *testing.T) {
	for _, c := range []struct {
		rule              string
		call              Request
		allows, restricts bool
	}{
		{"web_fetch", fetch("example.org"), true, true},
		{"web_fetch(example.org)", fetch("example.org"), true, true},
		{"web_fetch(example.org)", fetch("www.example.org"), false, true}, // wide where it restricts
		{"web_fetch(example.org)", fetch("example.org:8443"), false, true},
		{"web_fetch(example.org:8443)", fetch("example.org:8443"), true, true},
		{"web_fetch(example.org:8443)", fetch("example.org"), false, false},
		{"web_fetch(*.example.org)", fetch("www.example.org"), true, true},
		{"web_fetch(*.example.org)", fetch("example.org"), false, true},
		{"web_fetch(*.example.org)", fetch("badexample.org"), false, false},
		{"web_fetch(example.org)", fetch("example.org.evil.example"), false, false},
		{"web_fetch(Example.ORG)", fetch("example.org"), false, true},
		{`web_fetch("*.example.org")`, fetch("www.example.org"), false, true},
		{"run_command(example.org)", fetch("example.org"), false, false},
		{"task", task("qwen"), true, true},
		{"task(qwen)", task("qwen"), true, true},
		{"task(qwen)", task("qwen-2"), false, false},
		{"task(Qwen)", task("qwen"), false, true}, // wide where it restricts
		{"task(q*)", task("qwen"), true, true},
		{"run_command(qwen)", task("qwen"), false, false},
	} {
		rule := mustParse(t, c.rule)
		c.call.Rules = Rules{Allow: []Rule{rule}}
		if got := Decide(c.call).Verdict == Run; got != c.allows {
			t.Errorf("%s allows %s: %t", c.rule, c.call, got)
		}
		if got := CoversSubject([]Rule{rule}, "task", c.call.Subject); c.call.Tool == "task" && got != c.allows {
			t.Errorf("%s covers %s: %t", c.rule, c.call, got)
		}
		c.call.Rules = Rules{Deny: []Rule{rule}}
		if got := Decide(c.call).Verdict == Refuse; got != c.restricts {
			t.Errorf("%s denies %s: %t", c.rule, c.call, got)
		}
	}
	for want, call := range map[string]Request{"web_fetch(example.org:8443)": fetch("example.org:8443"), "task(qwen)": task("qwen")} {
		if d := Decide(call); len(d.Offers) != 1 || d.Offers[0].Rule.String() != want {
			t.Errorf("%s: offered: %+v", call, d.Offers)
		}
	}
	r := fetch("example.org")
	r.Rules.Deny = []Rule{mustParse(t, "web_fetch(ex*.org)")}
	r.Mode = FullAccess
	if d := Decide(r); d.Verdict != Ask || d.Rememberable {
		t.Errorf("a rule that cannot be judged: %+v", d)
	}
}

func TestASubAgentsOwnCommands(t *testing.T) {
	r := Request{Tool: "task_permission", Access: Exec, Mode: FullAccess, Command: &Command{Line: "rm -r x", POSIX: true}}
	check(t, r, Run)
	r.Rules.Deny = []Rule{mustParse(t, "run_command(rm *)")}
	check(t, r, Refuse)
}
