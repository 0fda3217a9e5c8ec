package policy

import (
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
)

// contract is section 7 of the tool contract, typed again.
const contract = `
class    plan    default  auto_edit  full_access
read     run     run      run        run
session  run     run      run        run
human    run     run      run        run
edit     refuse  ask      run        run
exec     refuse  ask      ask        run
network  refuse  ask      ask        run
vcs      refuse  ask      ask        run`

type row struct {
	access Access
	mode   Mode
	want   Verdict
}

func contractRows(t *testing.T) []row {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(contract), "\n")
	head := strings.Fields(lines[0])[1:]
	var rows []row
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		for i, mode := range head {
			rows = append(rows, row{Access(cells[0]), Mode(mode), Verdict(cells[i+1])})
		}
	}
	if len(rows) != 28 {
		t.Fatalf("the contract has 28 cells, the test found %d", len(rows))
	}
	return rows
}

func (r row) request() Request {
	req := Request{Tool: "a_tool", Access: r.access, Mode: r.mode}
	switch r.access {
	case Read:
		req.Paths = []PathFact{{Path: "src/app.py"}}
	case Edit:
		req.Paths = []PathFact{{Path: "src/app.py", Write: true}}
	case Exec:
		req.Command = &Command{Line: "make test"}
	}
	return req
}

func (r row) changes() bool { return slices.Contains([]Access{Edit, Exec, Network, VCS}, r.access) }

func TestClassByMode(t *testing.T) {
	for _, r := range contractRows(t) {
		got := Decide(r.request())
		check(t, r.request(), r.want)
		if rememberable := r.want == Ask && (r.access == Edit || r.access == Exec); got.Rememberable != rememberable {
			t.Errorf("%s: rememberable = %v", r.request(), got.Rememberable)
		}
		if len(got.OncePerSession) > 0 {
			t.Errorf("%s: asks once per session for %q", r.request(), got.OncePerSession)
		}
	}
}

// check decides and holds the answer against what every answer must keep to.
func check(t *testing.T, r Request, want Verdict) Decision {
	t.Helper()
	d := Decide(r)
	if d.Verdict != want {
		t.Errorf("%s: %s because %q, want %s", r, d.Verdict, d.Reasons, want)
	}
	if (d.Verdict == Run) != (len(d.Reasons) == 0) {
		t.Errorf("%s: %s with reasons %q", r, d.Verdict, d.Reasons)
	}
	if (d.Verdict == Refuse) != (d.Code != "") {
		t.Errorf("%s: %s with code %q", r, d.Verdict, d.Code)
	}
	if d.Rememberable != (len(d.Offers) > 0) || d.Rememberable && d.Verdict != Ask {
		t.Errorf("%s: %s, rememberable %v, offers %v", r, d.Verdict, d.Rememberable, d.Offers)
	}
	for _, reason := range Texts(d.Reasons) {
		if reason == "" || strings.HasSuffix(reason, ".") || reason != fault.Escape(reason) || strings.Contains(reason, "\n") {
			t.Errorf("%s: reason %q is not a plain sentence without a full stop", r, reason)
		}
	}
	return d
}

// atLeastAsk is what a special row makes of a cell.
func atLeastAsk(r row) Verdict {
	switch {
	case r.mode == Plan:
		return Refuse
	case r.want == Run:
		return Ask
	}
	return r.want
}

func TestProtectedWritesAskInEveryMode(t *testing.T) {
	facts := map[string]PathFact{
		"by name":        {Path: "sub/.vscode/settings.json", Write: true},
		"by link target": {Path: "notes", LinkTarget: ".envrc", Write: true},
		"executable":     {Path: "build.sh", Executable: true, Write: true},
		"made a program": {Path: "notes.txt", MadeExecutable: true, Write: true},
		"made a link":    {Path: "notes.txt", MadeLink: true, Write: true},
		"read-only":      {Path: "notes.txt", ReadOnly: true, Write: true},
		"hard link":      {Path: "notes.txt", HardLinks: 2, Write: true},
		"of another":     {Path: "notes.txt", LosesOwner: "root", Write: true},
		"secret":         {Path: "deploy/.env.local", Write: true},
	}
	for name, fact := range facts {
		for _, r := range contractRows(t) {
			if r.access == Human {
				continue // it changes nothing by itself
			}
			req := r.request()
			req.Paths = append(req.Paths, fact)
			req.Rules.Allow = []Rule{{Tool: "a_tool"}, {Tool: "a_tool", Specifier: fact.real()}}
			req.Grants = req.Rules.Allow
			d := check(t, req, atLeastAsk(r))
			if d.Rememberable || len(d.OncePerSession) > 0 {
				t.Errorf("%s, %s: can be remembered: %+v", name, req, d)
			}
		}
	}
}

// TestRepositoryInternalsAreRefused to all tools: what git keeps there itself is no path of its tools, and what
// a switch of branches would put there is refused as an edit is.
func TestRepositoryInternalsAreRefused(t *testing.T) {
	for name, fact := range map[string]PathFact{
		"dot git":        {Path: "a/.git/hooks/pre-commit", Write: true},
		"dot git itself": {Path: ".git", Write: true},
		"through a link": {Path: "notes", LinkTarget: ".git/config", Write: true},
		"bare by layout": {Path: "origin/config", BareRepository: true, Write: true},
		"bare by name":   {Path: "origin.git/hooks/post-receive", Write: true},
	} {
		for _, mode := range modes {
			for tool, access := range map[string]Access{"write_file": Edit, "git.branch": VCS} {
				req := Request{Tool: tool, Access: access, Mode: mode, Paths: []PathFact{fact}}
				req.Rules.Allow = []Rule{{Tool: tool}}
				if d := check(t, req, Refuse); d.Code != fault.PolicyDenied {
					t.Errorf("%s: code %s", name, d.Code)
				}
			}
			fact.Write = false
			check(t, Request{Tool: "read_file", Access: Read, Mode: mode, Paths: []PathFact{fact}}, Run)
			fact.Write = true
		}
	}
	// A patch may rest on such a file without touching it.
	req := edit("a.py")
	req.Paths = append(req.Paths, PathFact{Path: ".git/HEAD"})
	check(t, req, Ask)
}

func TestSecretsAskOncePerSession(t *testing.T) {
	secret := []PathFact{{Path: "README.md"}, {Path: "b/id_rsa"}, {Path: "plain", LinkTarget: ".env"}, {Path: ".env"}}
	for _, mode := range modes {
		req := Request{Tool: "read_many_files", Access: Read, Mode: mode, Paths: secret}
		req.Rules.Allow = []Rule{{Tool: "read_many_files"}}
		want := Ask
		if mode == Plan {
			want = Refuse
		}
		d := check(t, req, want)
		if want == Ask && !slices.Equal(d.OncePerSession, []string{"secret(.env)", "secret(b/id_rsa)"}) {
			t.Errorf("%s: key %q", req, d.OncePerSession)
		}
	}
	check(t, Request{Tool: "apply_patch_review", Access: Human, Mode: Plan, Paths: secret}, Run)
	// A yes to one set of secrets must not open another: a file's own name cannot
	// spell the key of two.
	two := check(t, Request{Tool: "r", Access: Read, Mode: Default, Paths: []PathFact{{Path: ".env"}, {Path: ".env.b"}}}, Ask)
	one := check(t, Request{Tool: "r", Access: Read, Mode: Default, Paths: []PathFact{{Path: ".env\n.env.b"}}}, Ask)
	if len(one.OncePerSession) != 1 || slices.Contains(two.OncePerSession, one.OncePerSession[0]) {
		t.Errorf("both are %q", one.OncePerSession)
	}
}

func TestSecretWritesAskEachTime(t *testing.T) {
	req := edit("deploy/.env")
	req.Mode = AutoEdit
	d := check(t, req, Ask)
	if len(d.OncePerSession) > 0 || !slices.Equal(Texts(d.Reasons), []string{"deploy/.env looks like a file with secrets"}) {
		t.Errorf("got %+v", d)
	}
}

// A call that asks for another reason as well does not open the secret for good.
func TestSecretBesideAnotherQuestion(t *testing.T) {
	req := Request{
		Tool: "edit_file", Access: Edit, Mode: Default,
		Paths: []PathFact{{Path: "a.py", Write: true}, {Path: ".env"}},
	}
	d := check(t, req, Ask)
	if len(d.OncePerSession) > 0 || len(d.Reasons) != 2 {
		t.Errorf("got %+v", d)
	}
	req.Grants = []Rule{{Tool: "edit_file"}}
	if d = check(t, req, Ask); !slices.Equal(d.OncePerSession, []string{"secret(.env)"}) {
		t.Errorf("with the edit granted: %+v", d)
	}
}

// TestKeysAskOncePerSession: what is noticed by content asks in every mode, unless a rule
// names the very file, and never says the value.
func TestKeysAskOncePerSession(t *testing.T) {
	for _, mode := range modes {
		r := Request{Tool: "read_file", Access: Read, Mode: mode, Paths: []PathFact{{Path: "a.py"}}, Keys: []KeyFact{{PathFact{Path: "a.py"}, "a Stripe key"}}}
		r.Rules.Allow = []Rule{{Tool: "read_file"}}
		d := check(t, r, Ask)
		if !slices.Equal(d.OncePerSession, []string{"secret(a.py)"}) || !slices.Equal(d.Reasons, []Reason{{ReasonSecret, "a.py seems to hold a Stripe key"}}) {
			t.Errorf("%s: %+v", r, d)
		}
		r.Once = map[string]bool{"secret(a.py)": true}
		check(t, r, Run)
		r.Once, r.Rules.Allow = nil, []Rule{{Tool: "read_file", Specifier: "a.py"}}
		check(t, r, Run)
	}
	named := Request{Tool: "read_file", Access: Read, Mode: Default, Paths: []PathFact{{Path: ".env"}}, Keys: []KeyFact{{PathFact{Path: ".env"}, "a Stripe key"}}}
	if d := check(t, named, Ask); len(d.OncePerSession) != 1 || len(d.Reasons) != 1 {
		t.Errorf("asked twice about one file: %+v", d)
	}
}

// TestWhatRunsNextAsksOncePerSession: in every mode that would let it be written unasked.
func TestWhatRunsNextAsksOncePerSession(t *testing.T) {
	patch := func(mode Mode, paths ...string) Request {
		r := Request{Tool: "apply_patch", Access: Edit, Mode: mode}
		for _, path := range paths {
			r.Paths = append(r.Paths, PathFact{Path: path, Write: true})
		}
		return r
	}
	for _, mode := range []Mode{AutoEdit, FullAccess} {
		r := patch(mode, "a.py", "web/package.json", "Makefile")
		d := check(t, r, Ask)
		if want := []string{"runs(Makefile)", "runs(web/package.json)"}; !slices.Equal(d.OncePerSession, want) || d.Rememberable {
			t.Errorf("%s: %+v", r, d)
		}
		if want := []Reason{{ReasonNext, "Makefile runs when you next use make"}, {ReasonNext, "web/package.json runs when you next use npm"}}; !slices.Equal(d.Reasons, want) {
			t.Errorf("%s: %q", r, d.Reasons)
		}
		r.Once = map[string]bool{"runs(Makefile)": true}
		if d := check(t, r, Ask); !slices.Equal(d.OncePerSession, []string{"runs(web/package.json)"}) || len(d.Reasons) != 1 {
			t.Errorf("%s: after the first, %+v", r, d)
		}
		r.Once["runs(web/package.json)"] = true
		if d := check(t, r, Run); d.By != ByGrant {
			t.Errorf("%s: by %s", r, d.By)
		}
		link := patch(mode)
		link.Paths = []PathFact{{Path: "notes", LinkTarget: "conftest.py", Write: true}}
		if d := check(t, link, Ask); !slices.Equal(d.OncePerSession, []string{"runs(conftest.py)"}) {
			t.Errorf("%s: %+v", link, d)
		}
	}
	check(t, patch(Plan, "Makefile"), Refuse)
	check(t, Request{Tool: "read_file", Access: Read, Mode: Default, Paths: []PathFact{{Path: "Makefile"}}}, Run)
}

// TestWhatRunsNextIsMarked: where the call asks anyway, it is said too. A rule that names
// the very file answers for it, one that covers it among others does not.
func TestWhatRunsNextIsMarked(t *testing.T) {
	r := edit("Makefile")
	d := check(t, r, Ask)
	if want := []string{"this tool changes files", "Makefile runs when you next use make"}; !slices.Equal(Texts(d.Reasons), want) || len(d.OncePerSession) > 0 || len(d.Offers) != 2 {
		t.Errorf("%+v", d)
	}
	for _, offer := range d.Offers {
		with := r
		with.Grants = []Rule{offer.Rule}
		check(t, with, Run)
	}
	for _, rule := range []string{"edit_file", "edit_file(*)", "edit_file(**)"} {
		r.Rules.Allow = []Rule{mustParse(t, rule)}
		if d := check(t, r, Ask); !slices.Equal(d.OncePerSession, []string{"runs(Makefile)"}) {
			t.Errorf("%s: %+v", rule, d)
		}
	}
	r.Rules.Allow = []Rule{mustParse(t, "edit_file(Makefile)")}
	check(t, r, Run)
	r.Mode = AutoEdit
	check(t, r, Run)
}

func TestAlwaysAsk(t *testing.T) {
	for _, r := range contractRows(t) {
		req := r.request()
		req.AlwaysAsk = true
		req.Rules.Allow = []Rule{{Tool: req.Tool}}
		req.Grants = req.Rules.Allow
		want := atLeastAsk(r)
		if r.access == Human || r.mode == Plan && !r.changes() {
			want = map[bool]Verdict{true: Run, false: Ask}[r.access == Human]
		}
		if d := check(t, req, want); d.Rememberable {
			t.Errorf("%s: rememberable", req)
		}
	}
}

func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	rule := []Rule{{Tool: "a_tool"}}
	for _, r := range contractRows(t) {
		req := r.request()
		req.Rules, req.Grants = Rules{Allow: rule, Ask: rule, Deny: rule}, rule
		check(t, req, Refuse)

		req.Rules.Deny = nil
		want := r.want
		if want == Run && r.access != Human {
			want = Ask
		}
		if d := check(t, req, want); d.Rememberable {
			t.Errorf("%s: an ask rule was offered to be remembered away", req)
		}

		req.Rules.Ask = nil
		if want = r.want; want == Ask {
			want = Run
		}
		check(t, req, want)
		req.Rules.Allow = nil
		check(t, req, want)
	}
}

func TestUnknownClassOrModeIsRefused(t *testing.T) {
	check(t, Request{Tool: "t", Access: "telepathy", Mode: FullAccess}, Refuse)
	check(t, Request{Tool: "t", Access: Read, Mode: ""}, Refuse)
	check(t, Request{Tool: "t"}, Refuse)
}

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		call Request
		want []string
	}{
		{edit("a.py"), []string{"this tool changes files"}},
		{command("make", ""), []string{"this tool runs a program"}},
		{edit(".vscode/tasks.json"), []string{"this tool changes files", ".vscode/tasks.json can make the editor run programs"}},
		{Request{Tool: "git.push", Access: VCS, Mode: FullAccess, AlwaysAsk: true}, []string{"this call always needs approval"}},
	} {
		if d := check(t, c.call, Ask); !slices.Equal(Texts(d.Reasons), c.want) {
			t.Errorf("%s: reasons %q, want %q", c.call, d.Reasons, c.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, mode := range []string{"plan", "default", "auto_edit", "full_access"} {
		if got, err := ParseMode(mode); err != nil || string(got) != mode {
			t.Errorf("%s: %q, %v", mode, got, err)
		}
	}
	for _, mode := range []string{"", "Default", "yolo"} {
		if _, err := ParseMode(mode); fault.CodeOf(err) != fault.InvalidArguments {
			t.Errorf("%q: %v", mode, err)
		}
	}
}

// TestWeights: what is protected comes before what is asked about once or by a rule, wherever it stands.
func TestWeights(t *testing.T) {
	r := Request{Tool: "git.branch", Access: VCS, Mode: Default, Paths: []PathFact{
		{Path: "a", Write: true},
		{Path: ".envrc", Write: true},
		{Path: "Makefile", Write: true},
		{Path: "docs/x", Write: true},
		{Path: "/out/a", Write: true, Apart: true},
		{Path: "/out/.envrc", Write: true, Apart: true},
		{Path: ".envrc"},
	}}
	r.Rules.Ask = []Rule{mustParse(t, "edit_file(docs/**)"), {Tool: "edit_file"}, {Tool: "git.branch"}}
	if got := r.Weights(); !slices.Equal(got, []Weight{Plain, Foremost, Notable, Notable, Plain, Foremost, Plain}) {
		t.Errorf("%v", got)
	}
}
