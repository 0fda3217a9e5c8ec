package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
)

func mustParse(t *testing.T, s string) Rule {
	t.Helper()
	r, err := ParseRule(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]Rule{
		"read_file":                                         {Tool: "read_file"},
		"git.push":                                          {Tool: "git.push"},
		"run_command(make test)":                            {Tool: "run_command", Specifier: "make test"},
		"run_command(make test) in tools/gen":               {Tool: "run_command", Specifier: "make test", Folder: "tools/gen"},
		"run_command(echo (a) in b)":                        {Tool: "run_command", Specifier: "echo (a) in b"},
		`run_command("echo ')' in b") in "c "`:              {Tool: "run_command", Specifier: "echo ')' in b", Folder: "c "},
		`run_command("ls *")`:                               {Tool: "run_command", Specifier: "ls *"},
		"run_command(git status *)":                         {Tool: "run_command", Specifier: "git status *", pattern: true},
		"run_command(go test *) with listed options":        {Tool: "run_command", Specifier: "go test *", pattern: true, Listed: true},
		"run_command(go test *) with listed options in sub": {Tool: "run_command", Specifier: "go test *", Folder: "sub", pattern: true, Listed: true},
		"edit_file(src/**)":                                 {Tool: "edit_file", Specifier: "src/**", pattern: true},
		"edit_file(app/[id]/page.tsx)":                      {Tool: "edit_file", Specifier: "app/[id]/page.tsx"},
		`run_command("a\nb")`:                               {Tool: "run_command", Specifier: "a\nb"},
		`run_command(git commit -m "it's ok")`:              {Tool: "run_command", Specifier: `git commit -m "it's ok"`},
	} {
		if got := mustParse(t, text); got != want {
			t.Errorf("%s: %#v", text, got)
		} else if got.String() != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for text, says := range map[string]string{
		"":                                      "tool's name",
		"(x)":                                   "tool's name",
		" read_file":                            "tool's name",
		"read file":                             "only (specifier)",
		"read_file ":                            "only (specifier)",
		"read_file(":                            "do not match",
		"read_file()":                           "empty",
		"read_file( a)":                         "blanks",
		"read_file(a\nb)":                       "one visible line",
		"read_file(a\u200bb)":                   "one visible line",
		"run_command(a) on b":                   "only ' in folder'",
		"run_command(a) in .":                   "workspace root",
		"run_command(a) with listed options":    "after a *",
		"edit_file(a/*) with listed options":    "after a *",
		"run_command(a *) with listed optionsx": "after a *",
		`run_command(a) in "b`:                  "quotes do not end",
		`run_command("a)`:                       "double quotes",
		`run_command("a" b)`:                    "closing parenthesis",
		`run_command("")`:                       "closing parenthesis",
		"run_command(echo (a)":                  "do not match",
		"run_command(a)) in b":                  "only ' in folder'",
		"run_command(a)(b)":                     "only ' in folder'",
		"read_file(a) in ":                      "workspace root",
		"run_command(a) in b/..":                "workspace root",
	} {
		_, err := ParseRule(text)
		if fault.CodeOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", text, err, says)
		}
	}
}

func TestRuleIsOneStringInSettings(t *testing.T) {
	var rules Rules
	if err := json.Unmarshal([]byte(`{"allow": ["read_file", "run_command(make test) in sub"]}`), &rules); err != nil {
		t.Fatal(err)
	}
	if got := rules.Allow[1]; got != (Rule{Tool: "run_command", Specifier: "make test", Folder: "sub"}) {
		t.Errorf("read %#v", got)
	}
	if text, err := json.Marshal(rules.Allow); err != nil || string(text) != `["read_file","run_command(make test) in sub"]` {
		t.Errorf("wrote %s, %v", text, err)
	}
}

// offered is the exact rule, on offer for the session and for the workspace.
func offered(t *testing.T, r Request) Rule {
	t.Helper()
	d := check(t, r, Ask)
	last := len(d.Offers) - 1
	if last < 1 || d.Offers[0].Scope != "session" || d.Offers[last].Scope != "workspace" || d.Offers[0].Rule != d.Offers[last].Rule {
		t.Fatalf("%s: offers %v", r, d.Offers)
	}
	for _, o := range d.Offers {
		again := r
		again.Grants = append(slices.Clone(r.Grants), o.Rule)
		if got := Decide(again); got.Verdict != Run {
			t.Errorf("%s: with %s it still needs %s: %q", r, o.Rule, got.Verdict, got.Reasons)
		}
	}
	return d.Offers[0].Rule
}

func wantOffered(t *testing.T, r Request, want string) Rule {
	t.Helper()
	rule := offered(t, r)
	if rule.String() != want {
		t.Errorf("offers %s, want %s", rule, want)
	}
	return rule
}

func command(line, cwd string) Request {
	return Request{Tool: "run_command", Access: Exec, Mode: Default, Command: &Command{Line: line, Cwd: cwd, POSIX: true}}
}

func edit(paths ...string) Request {
	r := Request{Tool: "edit_file", Access: Edit, Mode: Default}
	for _, p := range paths {
		r.Paths = append(r.Paths, PathFact{Path: p, Write: true})
	}
	return r
}

// in is the call in another mode.
func (r Request) in(mode Mode) Request {
	r.Mode = mode
	return r
}

// granted is the call where the user has allowed this.
func (r Request) granted(rules ...Rule) Request {
	r.Grants = rules
	return r
}

// denied is the call where the settings deny this.
func (r Request) denied(rules ...Rule) Request {
	r.Rules.Deny = rules
	return r
}

func TestOffersCoverTheCallAndNothingElse(t *testing.T) {
	rule := wantOffered(t, command("make test", "."), "run_command(make test)")
	check(t, command("make test", "").granted(rule), Run)
	check(t, command("make test", "sub").granted(rule), Ask)
	check(t, command("make test ", "").granted(rule), Ask)
	check(t, command("make test; rm -rf .", "").granted(rule), Ask)
	check(t, command("make  test", "").granted(rule), Ask)
	other := command("make test", "")
	other.Tool = "run_persistent"
	check(t, other.granted(rule), Ask)
	withEnv := command("make test", "")
	withEnv.Command.Env = map[string]string{"MAKEFLAGS": "-f /tmp/evil"}
	if d := check(t, withEnv.granted(rule), Ask); d.Rememberable {
		t.Error("a command with its own environment can be remembered")
	}
	withStdin := command("sh", "")
	withStdin.Command.Stdin = "rm -rf ."
	check(t, withStdin.granted(Rule{Tool: "run_command", Specifier: "sh"}), Ask)

	rule = wantOffered(t, command("make test", "sub/"), "run_command(make test) in sub")
	check(t, command("make test", "sub").granted(rule), Run)
	check(t, command("make test", "").granted(rule), Ask)

	rule = wantOffered(t, command("ls *", ""), `run_command("ls *")`)
	check(t, command("ls *", "").granted(mustParse(t, rule.String())), Run)
	check(t, command("ls -l", "").granted(mustParse(t, rule.String())), Ask)
}

func TestOffersForEdits(t *testing.T) {
	rule := wantOffered(t, edit("src/app.py"), "edit_file(src/app.py)")
	check(t, edit("src/app.py").granted(rule), Run)
	for _, other := range []Request{edit("src/App.py"), edit("src/app.py/x"), edit("src"), edit("src/app.py", "b")} {
		check(t, other.granted(rule), Ask)
	}
	if d := check(t, edit("a", "b"), Ask); len(d.Offers) != 2 || d.Offers[0].Scope != "turn" || d.Offers[0].Rule.Tool != changesTool || d.Offers[1].Rule.Tool != changesTool {
		t.Errorf("offers %v for two files", d.Offers)
	}
	check(t, edit("a", "b").granted(Rule{Tool: "edit_file", Specifier: "a"}, Rule{Tool: "edit_file", Specifier: "b"}), Run)

	link := edit("link")
	link.Paths[0].LinkTarget = "src/app.py"
	link.Grants = []Rule{{Tool: "edit_file", Specifier: "link"}}
	check(t, link, Ask) // the link may lead elsewhere since
	if rule = offered(t, link); rule.Specifier != "src/app.py" {
		t.Errorf("offers %s for a link", rule)
	}
	link.Grants = []Rule{rule}
	check(t, link, Run)
}

// TestAllChanges: one yes for all changes to files, which covers nothing that mode auto_edit
// asks about, and is offered where it would answer.
func TestAllChanges(t *testing.T) {
	all := Rule{Tool: changesTool}
	for _, r := range []Request{edit("src/app.py"), edit("a", "b")} {
		if !slices.ContainsFunc(check(t, r, Ask).Offers, func(o Offer) bool { return o.Rule == all && o.Scope == "session" }) {
			t.Errorf("not on offer for %v", r.Paths)
		}
		check(t, r.granted(all), Run)
	}
	outside := edit("../x")
	outside.Paths[0].Apart = true
	for _, r := range []Request{edit(".pillion/settings.json"), edit("a", ".vscode/tasks.json"), edit("Makefile"), edit(".env"), outside} {
		if slices.ContainsFunc(check(t, r, Ask).Offers, func(o Offer) bool { return o.Rule == all }) {
			t.Errorf("on offer for %v", r.Paths)
		}
		check(t, r.granted(all), Ask)
		check(t, r.in(AutoEdit), Ask) // the same
	}
	check(t, command("make", "").granted(all), Ask)
	check(t, edit("a").granted(all).in(Plan), Refuse)
}

// A rule with a folder and no specifier cannot be written, so it must not allow.
func TestFolderAloneAllowsNothing(t *testing.T) {
	check(t, command("rm -rf /", "").granted(Rule{Tool: "run_command", Folder: "sub"}), Ask)
}

func TestRulesFromSettings(t *testing.T) {
	secretsRule := "edit_file(secrets/**)"
	for _, c := range []struct {
		list, rule string
		call       Request
		want       Verdict
	}{
		{"allow", "edit_file(src/**)", edit("src/a/b.py"), Run},
		{"allow", "edit_file(src/**)", edit("src/a.py", "README.md"), Ask},
		{"allow", "edit_file(src/**)", edit("SRC/a.py"), Ask},
		{"allow", "edit_file(src/*.py)", edit("src/a.py"), Run},
		{"allow", "edit_file(src/*.py)", edit("src/a/b.py"), Ask},
		{"allow", "edit_file(**/*.md)", edit("README.md"), Run},
		{"allow", "edit_file(**/*.md)", edit("docs/a/b.md"), Run},
		{"allow", "edit_file(**/*.md)", edit("docs/bmd"), Ask},
		{"allow", `edit_file("src/**")`, edit("src/a.py"), Ask},
		{"allow", `edit_file(src)`, edit("src/a.py"), Ask},
		{"allow", "write_file", edit("src/a.py"), Ask},
		{"allow", "run_command", command("rm -rf build", "sub"), Run},
		{"allow", "run_command(git status *)", command("git status -s", ""), Run},
		{"allow", "run_command(git status *)", command("git status *", ""), Ask},
		{"allow", "run_command(*)", command("ls", ""), Ask},
		{"deny", secretsRule, edit("secrets/a"), Refuse},
		{"deny", secretsRule, edit("Secrets/a\u200d"), Refuse},
		{"deny", secretsRule, edit("b", "secrets/a"), Refuse},
		{"deny", secretsRule, edit("src/secrets/a"), Ask},
		{"deny", "edit_file(secrets)", edit("secrets/a/b"), Refuse},
		{"deny", "edit_file(/secrets/)", edit("secrets/a/b"), Refuse},
		{"deny", "edit_file(./secrets)", edit("secrets"), Refuse},
		{"deny", "edit_file(vendor/*)", edit("vendor/x/y.go"), Refuse},
		{"deny", "edit_file(secret)", edit("secrets"), Ask},
		{"deny", "edit_file(*)", edit("a/b"), Refuse},
		{"deny", "edit_file(**)", edit("."), Refuse},
		{"deny", "edit_file(.)", edit("a/b"), Refuse},
		{"deny", "run_command(make deploy)", command("make deploy", "sub"), Refuse},
		{"deny", "run_command(make deploy) in sub", command("make deploy", "Sub"), Refuse},
		{"deny", "run_command(make deploy) in sub", command("make deploy", ""), Ask},
		{"deny", "run_command(make deploy)", command("make test", ""), Ask},
		{"deny", "run_command", command("make test", ""), Refuse},
		{"deny", "read_file(secrets/**)", Request{Tool: "read_file", Access: Read, Mode: Default, Paths: []PathFact{{Path: "a", LinkTarget: "secrets/a"}}}, Refuse},
		{"deny", "git_push", Request{Tool: "git.push", Access: VCS, Mode: FullAccess}, Refuse}, // with a dot or an underscore
	} {
		rule := mustParse(t, c.rule)
		if c.list == "allow" {
			c.call.Rules.Allow = []Rule{rule}
		} else {
			c.call.Rules.Deny = []Rule{rule}
		}
		check(t, c.call, c.want)
	}
}

func TestDenyRuleSpeltWithAnAbsolutePath(t *testing.T) {
	r := edit("secrets/a")
	r.Mode = FullAccess
	r.Paths[0].Root, r.Paths[0].Folder = "/home/u/app", "app"
	r.Rules.Deny = []Rule{mustParse(t, "edit_file(/home/u/app/secrets/**)")}
	check(t, r, Refuse)
	r.Paths[0].Root = "/home/v/app"
	check(t, r, Run)
	r.Rules.Deny = []Rule{mustParse(t, "edit_file(home)")} // a folder of the project, not /home
	check(t, r, Run)
}

func TestRulesInAWorkspaceOfSeveralRoots(t *testing.T) {
	in := func(folder string) Request {
		r := edit("src/app.py")
		r.Paths[0].Folder = folder
		return r
	}
	rule := wantOffered(t, in("api"), "edit_file(api/src/app.py)")
	for folder, want := range map[string]Verdict{"api": Run, "web": Ask, "": Ask} {
		check(t, in(folder).granted(rule), want)
	}
}

// To read many files is to read each; a rule for one of them holds, a grant does not.
func TestRulesForReadingHoldForManyFiles(t *testing.T) {
	many := func(paths ...string) Request {
		r := Request{Tool: "read_many_files", Access: Read, Mode: Default}
		for _, p := range paths {
			r.Paths = append(r.Paths, PathFact{Path: p})
		}
		return r
	}
	for _, test := range []struct {
		request Request
		rule    string
		want    Verdict
	}{
		{many("a", "private/b"), "read_file(private/**)", Refuse},
		{many("a", "b"), "read_file(private/**)", Run},
		{many(), "read_file(private/**)", Run},
		{many(), "read_file", Refuse},
		{many("a"), "read_file", Refuse},
		{many("a"), "write_file", Run},
	} {
		test.request.Rules.Deny = []Rule{mustParse(t, test.rule)}
		check(t, test.request, test.want)
	}
}

// What only a shell parser could tell asks, also where the table would run it.
func TestRulesThatCannotBeJudgedAsk(t *testing.T) {
	for _, list := range []string{"deny", "ask"} {
		r := command("git -c x=y push", "")
		r.Mode = FullAccess
		r.Grants = []Rule{{Tool: "run_command", Specifier: "git -c x=y push"}}
		rule := []Rule{mustParse(t, "run_command(git push *)")}
		if list == "deny" {
			r.Rules.Deny = rule
		} else {
			r.Rules.Ask = rule
		}
		if d := check(t, r, Ask); d.Rememberable || !strings.Contains(strings.Join(Texts(d.Reasons), " "), "run_command(git push *)") {
			t.Errorf("%s: %+v", list, d)
		}
	}
	fetch := Request{Tool: "web_fetch", Access: Network, Mode: FullAccess}
	fetch.Rules.Deny = []Rule{mustParse(t, "web_fetch(example.com)")}
	check(t, fetch, Ask)
}

func FuzzRuleRoundTrip(f *testing.F) {
	for _, line := range []string{
		"make test", "ls *", `echo ")"`, "a\nb", "a\tb", " x ", "((", "\"", "`x`", "\xff", "\u202etxt", "\u3164",
		"\ufffd", "echo (a) in b", `\`, "a) in (b", "'", "\U000e0100",
	} {
		f.Add(line, "")
		f.Add("x", line)
	}
	f.Fuzz(func(t *testing.T, line, cwd string) {
		if line == "" {
			return // no rule is offered for it
		}
		offers := Decide(command(line, cwd)).Offers
		if len(offers) == 0 {
			return // it writes where it must ask every time
		}
		rule := offers[0].Rule
		text := rule.String()
		if strings.ContainsAny(text, "\n\t") || fault.Escape(text) != text {
			t.Errorf("rule %q hides something", text)
		}
		back, err := ParseRule(text)
		if err != nil || back != rule {
			t.Errorf("%#v printed as %s, read as %#v, %v", rule, text, back, err)
		}
		again := command(line, cwd)
		again.Grants = []Rule{back}
		if d := Decide(again); d.Verdict != Run {
			t.Errorf("%s does not cover its own call: %v", text, d.Reasons)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"a(b) in c", `a("b")`, "a(**)", "a.b-c", `a("\u202e") in "x"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rule, err := ParseRule(s)
		if err != nil {
			return
		}
		if back, err := ParseRule(rule.String()); err != nil || back != rule {
			t.Errorf("%q is %#v, printed %q, read %#v, %v", s, rule, rule, back, err)
		}
		Decide(Request{Tool: rule.Tool, Access: Edit, Mode: Default, Paths: []PathFact{{Path: s}}, Rules: Rules{Allow: []Rule{rule}}})
	})
}

// TestWhoMayNotChangeAFileMayNotChangeItByAnotherTool: rules that restrict edits of a file hold for every tool
// that changes, makes or deletes it. What is allowed to change a file by one is not allowed to by another.
func TestWhoMayNotChangeAFileMayNotChangeItByAnotherTool(t *testing.T) {
	paths := []PathFact{{Path: "src/a.go", Write: true}, {Path: "vendor/a.go", Write: true}}
	for _, ruled := range []string{"edit_file", "write_file"} {
		rule := mustParse(t, ruled+"(vendor/**)")
		for tool, access := range map[string]Access{
			"edit_file": Edit, "write_file": Edit, "delete_file": Edit, "move_file": Edit, "create_directory": Edit, "save_memory": Edit, "apply_patch": Edit,
			"lsp_rename": Edit, "lsp_code_actions": Edit, "of_another_day": Edit, "git.branch": VCS,
		} {
			if tool == ruled {
				continue
			}
			r := Request{Tool: tool, Access: access, Mode: FullAccess, Paths: paths}
			r.Rules = Rules{Deny: []Rule{rule}}
			check(t, r, Refuse)
			r.Rules = Rules{Ask: []Rule{rule}}
			check(t, r, Ask)
			r.Paths = paths[:1]
			check(t, r, Run)
			r.Rules = Rules{Deny: []Rule{{Tool: ruled}}} // the tool is off, and nothing else
			check(t, r, Run)
			r.Mode, r.Paths, r.Rules = Default, paths[1:], Rules{Allow: []Rule{rule}}
			check(t, r, Ask)
			r.Paths = []PathFact{{Path: "vendor/a.go"}} // it is read alone
			r.Access, r.Rules = Read, Rules{Deny: []Rule{rule}}
			check(t, r, Run)
		}
	}
	commit := Request{Tool: "git.commit", Access: VCS, Mode: FullAccess, Paths: []PathFact{{Path: "vendor/a.go"}}}
	commit.Rules.Deny = []Rule{mustParse(t, "edit_file(vendor/**)")}
	check(t, commit, Run)
}

// TestWhoMayNotDeleteAFile: by no tool that does, and the others may change it.
func TestWhoMayNotDeleteAFile(t *testing.T) {
	rule := mustParse(t, "delete_file(vendor/**)")
	r := Request{Tool: "git.branch", Access: VCS, Mode: FullAccess, Paths: []PathFact{{Path: "vendor/a.go", Write: true}}, Rules: Rules{Deny: []Rule{rule}}}
	check(t, r, Run)
	r.Paths[0].Gone = true
	check(t, r, Refuse)
	r.Tool, r.Access, r.Paths[0].Gone = "lsp_rename", Edit, false
	check(t, r, Run)
	r.Tool = "apply_patch"
	check(t, r, Refuse)
}

// TestWhoMayNotReadAFileMayNotMoveIt to where they may read it.
func TestWhoMayNotReadAFileMayNotMoveIt(t *testing.T) {
	r := Request{Tool: "move_file", Access: Edit, Mode: FullAccess, Paths: []PathFact{{Path: "private/a", Write: true}, {Path: "b", Write: true}}}
	r.Rules.Deny = []Rule{mustParse(t, "read_file(private/**)")}
	check(t, r, Refuse)
	r.Tool = "apply_patch"
	check(t, r, Refuse)
	r.Tool = "delete_file"
	check(t, r, Run)
}

// TestListedOptionsAreOfKnownPrograms: a rule that can allow nothing is reported.
func TestListedOptionsAreOfKnownPrograms(t *testing.T) {
	for text, allows := range map[string]bool{
		"run_command(go test *) with listed options": true, "run_command(npm run lint *) with listed options": true, "run_command(go list ./... *) with listed options": true,
		"run_command(pytest *) with listed options": false, "run_command(go run *) with listed options": false, "run_command(go *) with listed options": false,
	} {
		if why := mustParse(t, text).NeverAllows(); (why == "") != allows {
			t.Errorf("%s: %q", text, why)
		}
	}
	// What restricts is read widely.
	check(t, command("go list -export .", "").denied(mustParse(t, "run_command(go list *) with listed options")), Refuse)
}

func TestARuleInAndOutOfAFolder(t *testing.T) {
	for _, test := range []struct {
		rule, name string
		command    bool
		restricts  bool
		want       string
	}{
		{"edit_file(src/**)", "kettle", false, false, "edit_file(kettle/src/**)"},
		{"edit_file(src/**)", "", false, false, "edit_file(src/**)"},
		{"edit_file", "kettle", false, false, "edit_file"},
		{"edit_file(/home/ada/kettle/x)", "kettle", false, true, "edit_file(/home/ada/kettle/x)"},
		{"run_command(go test *)", "kettle", true, false, "run_command(go test *) in kettle"},
		{"run_command(go test *) in sub", "kettle", true, false, "run_command(go test *) in kettle/sub"},
		{"run_command(git push)", "kettle", true, true, "run_command(git push)"}, // in every folder below
		{"run_command(git push) in sub", "kettle", true, true, "run_command(git push) in kettle/sub"},
		{"run_command", "kettle", true, false, "run_command"},
	} {
		if got := mustParse(t, test.rule).In(test.name, test.command, test.restricts); got.String() != test.want {
			t.Errorf("%s in %s: %s, want %s", test.rule, test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		rule, name string
		command    bool
		want       string // "" if it is another folder's
	}{
		{"edit_file(kettle/src/a)", "kettle", false, "edit_file(src/a)"},
		{"edit_file(kettle)", "kettle", false, ""}, // and not edit_file, which is every call
		{"edit_file(kettles/a)", "kettle", false, ""},
		{"edit_file(src/a)", "", false, "edit_file(src/a)"},
		{"run_command(make) in kettle", "kettle", true, "run_command(make)"},
		{"run_command(make) in kettle/sub", "kettle", true, "run_command(make) in sub"},
		{"run_command(make) in teapot", "kettle", true, ""},
		{"run_command(make)", "kettle", true, ""},
	} {
		got, ok := mustParse(t, test.rule).Out(test.name, test.command)
		if text := got.String(); ok != (test.want != "") || ok && text != test.want {
			t.Errorf("%s out of %s: %s, %v, want %s", test.rule, test.name, text, ok, test.want)
		}
	}
}

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
