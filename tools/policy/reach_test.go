package policy

import (
	"slices"
	"strings"
	"testing"
)

func rulesOf(t *testing.T, texts ...string) (out []Rule) {
	t.Helper()
	for _, text := range texts {
		out = append(out, mustParse(t, text))
	}
	return out
}

func TestWhatCommandsMayReach(t *testing.T) {
	for name, c := range map[string]struct {
		hosts            []string
		allow, ask, deny []string
		mode             Mode
		verdict          Verdict
		once             string
	}{
		"a line that a rule allows":              {nil, []string{"run_command(ls *)"}, nil, nil, Default, Run, ""},
		"with a host that none allows":           {[]string{"a.example"}, []string{"run_command(ls *)"}, nil, nil, Default, Ask, "network(a.example)"},
		"with one that one allows":               {[]string{"a.example"}, []string{"run_command(ls *)", "network(a.example)"}, nil, nil, Default, Run, ""},
		"at a port that none allows":             {[]string{"a.example:22"}, []string{"run_command(ls *)", "network(a.example)"}, nil, nil, Default, Ask, "network(a.example:22)"},
		"below one that is allowed":              {[]string{"a.b.example"}, []string{"run_command(ls *)", "network(*.example)"}, nil, nil, Default, Run, ""},
		"the whole network":                      {[]string{"*"}, []string{"run_command(ls *)", "network(*.example)"}, nil, nil, Default, Ask, "network"},
		"the whole network by a rule":            {[]string{"*"}, []string{"run_command(ls *)", "network"}, nil, nil, Default, Run, ""},
		"everything may everything":              {[]string{"*"}, nil, nil, nil, FullAccess, Run, ""},
		"but what is denied":                     {[]string{"a.example"}, nil, nil, []string{"network(example)"}, FullAccess, Refuse, ""},
		"all of what is denied in part":          {[]string{"*"}, []string{"network"}, nil, []string{"network(bad.example)"}, FullAccess, Refuse, ""},
		"what is to be asked about":              {[]string{"a.example"}, []string{"run_command(ls *)", "network(a.example)"}, []string{"network(a.example)"}, nil, Default, Ask, ""},
		"all of what is to be asked about":       {[]string{"*"}, nil, []string{"network(a.example)"}, nil, FullAccess, Ask, ""},
		"a rule for a page is none for commands": {[]string{"a.example"}, []string{"run_command(ls *)", "web_fetch(a.example)"}, nil, nil, Default, Ask, "network(a.example)"},
	} {
		d := Decide(Request{
			Tool: "run_command", Access: Exec, Mode: c.mode, Command: &Command{Line: "ls -l", POSIX: true, Hosts: c.hosts},
			Rules: Rules{Allow: rulesOf(t, c.allow...), Ask: rulesOf(t, c.ask...), Deny: rulesOf(t, c.deny...)},
		})
		if d.Verdict != c.verdict || strings.Join(d.OncePerSession, " ") != c.once {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A rule that restricts holds however it and the agent spell the host, and for each way to
// name more of which it is a part; in full_access too, where nobody is asked.
func TestRulesAboutHostsHoldInEverySpelling(t *testing.T) {
	for _, c := range []struct {
		rule, asked string
		refused     bool
	}{
		{"bad.example.org", "*.example.org", true},
		{"bad.example.org", "*.org:443", true},
		{"*.bad.example.org", "*.example.org", true},
		{"bad.example.org", "*.other.org", false},
		{"example.org:443", "example.org", true},
		{"example.org:22", "example.org", false},
		{"example.org:22", "example.org:0022", true},
		{"bad.example.org:22", "*.example.org:22", true},
		{"example.org", "example.org.", true},
		{"Example.org.", "example.org", true},
		{"10.0.0.1", "::ffff:10.0.0.1", true},
		{"[::1]", "::1", true},
		{"localhost", "127.0.0.1:80", true},
		{"0:0:0:0:0:0:0:1", "[::1]:80", true},
		{"b\u00fccher.example", "xn--bcher-kva.example", true},
		{"example.org", "badexample.org", false},
	} {
		d := Decide(Request{
			Tool: "run_command", Access: Exec, Mode: FullAccess, Command: &Command{Line: "ls", POSIX: true, Hosts: []string{c.asked}},
			Rules: Rules{Deny: rulesOf(t, "network("+c.rule+")")},
		})
		if (d.Verdict == Refuse) != c.refused {
			t.Errorf("%s, with %s denied: %s", c.asked, c.rule, d.Verdict)
		}
		if left := Hosts(Rules{Allow: rulesOf(t, "network("+c.asked+")"), Ask: rulesOf(t, "network("+c.rule+")")}); (len(left) == 0) != c.refused {
			t.Errorf("%s, for all commands, with %s to be asked about: %q", c.asked, c.rule, left)
		}
	}
}

// What is remembered of a command stands for its hosts as well.
func TestOffersWithHosts(t *testing.T) {
	r := Request{Tool: "run_command", Access: Exec, Mode: Default, Command: &Command{Line: "npm ci", POSIX: true, Hosts: []string{"a.example", "b.example:22"}}}
	d := Decide(r)
	if len(d.Offers) == 0 || d.Verdict != Ask || len(d.OncePerSession) > 0 {
		t.Fatalf("%+v", d)
	}
	for _, o := range d.Offers {
		want := o.Rule.String() + map[string]string{"session": ", ", "workspace": ", and for this session "}[o.Scope] + "network(a.example), network(b.example:22)"
		if o.Saves() != want {
			t.Errorf("%s: it says %q, want %q", o.ID, o.Saves(), want)
		}
		again := r
		again.Grants, again.Once = []Rule{o.Rule}, map[string]bool{}
		if Decide(again).Verdict != Ask {
			t.Errorf("%s: the hosts went unasked", o.ID)
		}
		for _, key := range o.Once {
			again.Once[key] = true
		}
		if got := Decide(again); got.Verdict != Run {
			t.Errorf("%s: %+v", o.ID, got)
		}
		again.Command = &Command{Line: "npm ci", POSIX: true, Hosts: []string{"c.example"}}
		if Decide(again).Verdict != Ask {
			t.Errorf("%s: it stands for another host", o.ID)
		}
	}
}

func TestHostsForAll(t *testing.T) {
	rules := Rules{Allow: rulesOf(t, "network(a.example)", "network(*.b.example)", "network(*.c.example)", "network(d.example:22)", "network", "web_fetch(e.example)"), Deny: rulesOf(t, "network(bad.c.example)", "network(a.example)")}
	if got := Hosts(rules); !slices.Equal(got, []string{"*.b.example", "d.example:22"}) {
		t.Errorf("%q", got)
	}
}
