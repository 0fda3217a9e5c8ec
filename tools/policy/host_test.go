package policy

import "testing"

func TestRulesForHosts(t *testing.T) {
	fetch := func(host string) Request {
		return Request{Tool: "web_fetch", Access: Network, Mode: Default, Host: host}
	}
	for _, c := range []struct {
		rule, host        string
		allows, restricts bool
	}{
		{"web_fetch", "example.org", true, true},
		{"web_fetch(example.org)", "example.org", true, true},
		{"web_fetch(example.org)", "www.example.org", false, true}, // wide where it restricts
		{"web_fetch(example.org)", "example.org:8443", false, true},
		{"web_fetch(example.org:8443)", "example.org:8443", true, true},
		{"web_fetch(example.org:8443)", "example.org", false, false},
		{"web_fetch(*.example.org)", "www.example.org", true, true},
		{"web_fetch(*.example.org)", "example.org", false, true},
		{"web_fetch(*.example.org)", "badexample.org", false, false},
		{"web_fetch(example.org)", "example.org.evil.example", false, false},
		{"web_fetch(Example.ORG)", "example.org", false, true},
		{`web_fetch("*.example.org")`, "www.example.org", false, true},
		{"run_command(example.org)", "example.org", false, false},
	} {
		rule := mustParse(t, c.rule)
		r := fetch(c.host)
		r.Rules.Allow = []Rule{rule}
		if got := Decide(r).Verdict == Run; got != c.allows {
			t.Errorf("%s allows %s: %t", c.rule, c.host, got)
		}
		r = fetch(c.host)
		r.Rules.Deny = []Rule{rule}
		if got := Decide(r).Verdict == Refuse; got != c.restricts {
			t.Errorf("%s denies %s: %t", c.rule, c.host, got)
		}
	}
	r := fetch("example.org")
	r.Rules.Deny = []Rule{mustParse(t, "web_fetch(ex*.org)")}
	r.Mode = FullAccess
	if d := Decide(r); d.Verdict != Ask || d.Rememberable {
		t.Errorf("a rule that cannot be judged: %+v", d)
	}
	if d := Decide(fetch("example.org:8443")); len(d.Offers) != 1 || d.Offers[0].Rule.String() != "web_fetch(example.org:8443)" {
		t.Errorf("offered: %+v", d.Offers)
	}
}
