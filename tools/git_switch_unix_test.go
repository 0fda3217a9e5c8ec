//go:build unix

package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace"
)

// branch makes a branch that differs from main by what these lines do, and leaves main checked out.
func (w *world) branch(name string, lines ...string) {
	w.t.Helper()
	w.says("switch", "-qc", name)
	for _, line := range lines {
		w.do(line)
	}
	w.says("add", "-fA")
	w.says("commit", "-qm", name)
	w.says("switch", "-q", "main")
}

func switchTo(name string) map[string]any { return map[string]any{"action": "switch", "name": name} }

// TestASwitchIsJudgedByWhatItWrites, as edits of the same files are: where everything is allowed it still asks about
// these, and nothing that is remembered answers.
func TestASwitchIsJudgedByWhatItWrites(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	for _, line := range []string{
		`write .vscode/tasks.json "{\n1\n2\n}\n"`, `write x "x\n"`, `mode x 755`, `write linked.txt "one\n"`, `write closed.txt "one\n"`,
	} {
		w.do(line)
	}
	w.says("add", "-fA")
	w.says("commit", "-qm", "before")
	rows := map[string]struct {
		lines []string // what the branch does
		why   string   // "": nobody is asked
	}{
		"plain":       {lines: []string{`write docs/x.md "x\n"`, `write a.txt "two\n"`, `remove b.txt`}},
		"made":        {[]string{`write sub/.envrc "x\n"`}, "sub/.envrc can make the shell run programs"},
		"changed":     {[]string{`write .vscode/tasks.json "{1}\n"`}, ".vscode/tasks.json can make the editor run programs"},
		"deleted":     {[]string{`remove .vscode/tasks.json`}, ".vscode/tasks.json can make the editor run programs"},
		"renamed":     {[]string{`remove .vscode/tasks.json`, `write x.json "{\n1\n2\n}\n"`}, ".vscode/tasks.json can make the editor run programs"},
		"agents":      {[]string{`write web/CLAUDE.md "x\n"`}, "web/CLAUDE.md tells agents what to do"},
		"hook":        {[]string{`write .husky/pre-commit "x\n"`}, ".husky/pre-commit can make git run programs"},
		"secret":      {[]string{`write .env "A=1\n"`}, ".env looks like a file with secrets"},
		"new-program": {[]string{`write bin/x "x\n"`, `mode bin/x 755`}, "bin/x is made a program: it gets the executable bit"},
		"executable":  {[]string{`mode a.txt 755`}, "a.txt is made a program: it gets the executable bit"},
		"program":     {[]string{`write x "y\n"`}, "x is a program: it has the executable bit"},
		"new-link":    {[]string{`link docs/l ../a.txt`}, "docs/l is made a symbolic link"},
		"link":        {[]string{`remove a.txt`, `link a.txt b.txt`}, "a.txt is made a symbolic link"},
		"hard-links":  {[]string{`write linked.txt "two\n"`}, "linked.txt has 2 names on this disk (hard links), and the others will keep the old text"},
		"read-only":   {[]string{`write closed.txt "two\n"`}, "closed.txt is read-only"},
		"next":        {[]string{`write Makefile "all:\n"`}, "Makefile runs when you next use make"},
	}
	for name, c := range rows {
		w.branch(name, c.lines...)
	}
	w.do(`hardlink ../kept linked.txt`)
	w.do(`mode closed.txt 444`)
	check := func(name, way string) {
		t.Helper()
		w.must(w.session("s").SetMode(policy.AutoEdit))
		w.rules = policy.Rules{}
		w.do(way)
		need, why := w.needs("git.branch", switchTo(name)), rows[name].why
		want := policy.Ask
		if why == "" {
			want = policy.Run
		}
		if need.Verdict != want || why != "" && !slices.ContainsFunc(need.Reasons, func(said string) bool { return strings.HasPrefix(said, why) }) {
			t.Errorf("%s, %s: %s because %q", name, way, need.Verdict, need.Reasons)
		}
		for _, d := range need.Decisions {
			if d.Rule != "" {
				t.Errorf("%s, %s: on offer is %s", name, way, d.Rule)
			}
		}
	}
	for name := range rows {
		check(name, "session s full_access")
	}
	for _, name := range []string{"plain", "made", "next"} {
		check(name, "allow git.branch")
		check(name, "allow git.branch(**)")
	}
}

// TestRulesForFilesHoldForASwitch: those that restrict, of the file that it changes.
func TestRulesForFilesHoldForASwitch(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.branch("other", `write docs/x.md "x\n"`, `remove b.txt`)
	w.do("session s full_access")
	for _, c := range []struct {
		rule string
		want policy.Verdict
	}{
		{"deny edit_file(docs/**)", policy.Refuse},
		{"deny write_file(docs/x.md)", policy.Refuse},
		{"deny edit_file(b.txt)", policy.Refuse},
		{"deny delete_file(b.txt)", policy.Refuse},
		{"deny git.branch(docs/**)", policy.Refuse},
		{"ask edit_file(docs/**)", policy.Ask},
		{"deny edit_file(vendor/**)", policy.Run},
		{"deny delete_file(docs/**)", policy.Run}, // it deletes none of these
		{"deny edit_file", policy.Run},            // that tool is off
	} {
		w.rules = policy.Rules{}
		w.do(c.rule)
		if need := w.needs("git.branch", switchTo("other")); need.Verdict != c.want {
			t.Errorf("%s: %s because %q", c.rule, need.Verdict, need.Reasons)
		}
	}
}

// TestASwitchOfSeveralFolders is under the rules of all: those of one do not let it run, and those of each restrict it.
func TestASwitchOfSeveralFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.folders = []string{"one", "two"}
	w.write("one/x.txt", "one\n")
	w.write("two/x.txt", "one\n")
	w.gitReady()
	w.branch("other", `write one/x.txt "two\n"`)
	w.branch("both", `write one/x.txt "two\n"`, `write two/x.txt "two\n"`)
	own := map[string]policy.Rules{}
	settings := w.registry.Settings
	w.registry.Settings = func() tools.Settings {
		s := settings()
		s.Folders = own
		return s
	}
	asks := func(branch string, want policy.Verdict) {
		t.Helper()
		if need := w.needs("git.branch", map[string]any{"action": "switch", "name": branch, "path": "one"}); need.Verdict != want {
			t.Errorf("%s because %q", need.Verdict, need.Reasons)
		}
	}
	rule := func(text string) []policy.Rule {
		rule, err := policy.ParseRule(text)
		w.must(err)
		return []policy.Rule{rule}
	}
	own[w.path("one")] = policy.Rules{Allow: rule("git.branch")}
	asks("other", policy.Ask)
	w.do("session s full_access")
	asks("other", policy.Run)
	own[w.path("two")] = policy.Rules{Deny: rule("edit_file(x.txt)")}
	asks("other", policy.Run)
	asks("both", policy.Refuse)
	own[w.path("two")] = policy.Rules{Deny: rule("git.branch")}
	asks("other", policy.Refuse)
}

// TestASwitchOfWhatProgramsRead asks, whatever the name is by which they do.
func TestASwitchOfWhatProgramsRead(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.branch("other", `write rc/one "x\n"`)
	w.registry.Guarded = func([]string) []workspace.Guarded {
		return []workspace.Guarded{{Path: w.path("rc/one"), Effect: policy.RunsInShell}}
	}
	w.do("session s full_access")
	if need := w.needs("git.branch", switchTo("other")); need.Verdict != policy.Ask || !strings.HasPrefix(need.Reasons[0], "rc/one can make the shell run programs: it is your ") {
		t.Errorf("%s because %q", need.Verdict, need.Reasons)
	}
}

// TestASwitchMakesNoFolderARepository for git.
func TestASwitchMakesNoFolderARepository(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.branch("other", `write x/HEAD "ref: refs/heads/main\n"`, `write x/config "[core]\n"`, `write x/objects/y "y\n"`, `write x/refs/y "y\n"`)
	w.do("session s full_access")
	if got := w.gitTool("git.branch", switchTo("other")); got.OK || got.Error.Code != fault.PolicyDenied || w.exists("x") {
		t.Errorf("%+v, %v", got, got.Error)
	}
}

// TestASwitchShowsWhatIsProtectedFirst, and leaves none of it out.
func TestASwitchShowsWhatIsProtectedFirst(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	var lines []string
	for i := range 250 {
		lines = append(lines, fmt.Sprintf(`write docs/%03d.md "x\n"`, i), fmt.Sprintf(`write web/%03d/.envrc "x\n"`, i))
	}
	w.branch("other", append(lines, `write web/CLAUDE.md "x\n"`, `write z/Makefile "x:\n"`)...)
	need := w.needs("git.branch", switchTo("other"))
	if need.Preview == nil {
		t.Fatalf("%+v", need)
	}
	at := slices.IndexFunc(need.Preview.Facts, func(f approval.Fact) bool { return f.Code == "files" })
	items := need.Preview.Facts[at].Items
	if len(items) != 252 || items[0] != "A web/000/.envrc +1 −0" || items[250] != "A web/CLAUDE.md +1 −0" || items[251] != "and 251 more" {
		t.Errorf("%d lines: %q … %q", len(items), items[:2], items[len(items)-2:])
	}
	w.branch("less", `write web/CLAUDE.md "x\n"`, `write z/Makefile "x:\n"`, `write a.txt "two\n"`, `mode b.txt 755`, `link c a.txt`)
	w.shows("git.branch", switchTo("less"), "M b.txt +0 −0, executable\n", "A c +1 −0, symbolic link\n")
	need = w.needs("git.branch", switchTo("less"))
	if items := need.Preview.Facts[at].Items; len(items) != 5 || !strings.HasPrefix(items[3], "A z/Makefile") || !strings.HasPrefix(items[4], "M a.txt") {
		t.Errorf("%q", items)
	}
}

// TestASwitchOutsideOfTheWorkspace is asked about: no tool for files comes there.
func TestASwitchOutsideOfTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.folders = []string{"inner"}
	w.write("inner/c.txt", "one\n")
	w.gitReady()
	w.branch("within", `write inner/c.txt "two\n"`)
	w.branch("beyond", `write a.txt "two\n"`, `write .envrc "x\n"`)
	w.do("session s full_access")
	if need := w.needs("git.branch", switchTo("within")); need.Verdict != policy.Run {
		t.Errorf("%s because %q", need.Verdict, need.Reasons)
	}
	need := w.needs("git.branch", switchTo("beyond"))
	if said := strings.Join(need.Reasons, "\n"); need.Verdict != policy.Ask || !strings.Contains(said, w.path("a.txt")+" is outside the workspace") || !strings.Contains(said, w.path(".envrc")+" can make the shell run programs") {
		t.Errorf("%s because %q", need.Verdict, need.Reasons)
	}
	w.do("deny edit_file(" + w.path("a.txt") + ")")
	if need := w.needs("git.branch", switchTo("beyond")); need.Verdict != policy.Refuse {
		t.Errorf("%s because %q", need.Verdict, need.Reasons)
	}
}

// TestASwitchUnderUnsavedText is refused by whatever name the file is open, and whatever becomes of it.
func TestASwitchUnderUnsavedText(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"real/a.txt": {`write real/a.txt "two\n"`},
		"lnk/a.txt":  {`write real/a.txt "two\n"`},
		"one.txt":    {`write real/a.txt "two\n"`},
		"b.txt":      {`remove b.txt`, `write real/b.txt "one\n"`}, // renamed
	} {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			for _, line := range []string{`write real/a.txt "one\n"`, `link lnk real`, `link one.txt real/a.txt`} {
				w.do(line)
			}
			w.says("add", "-A")
			w.says("commit", "-qm", "links")
			w.branch("other", lines...)
			w.do("open " + name)
			w.do("type " + name + ` "one\nmine\n"`)
			got := w.gitTool("git.branch", switchTo("other"))
			if got.OK || got.Error.Code != fault.WorkTreeDirty || !strings.Contains(got.Error.Message, "unsaved text in the editor: "+name) {
				t.Errorf("%+v, %v", got, got.Error)
			}
		})
	}
}

// TestABranchStaysWhereItWasJudged while git switches to it by its name, whatever another program does; where something moves it
// all the same, the call says so.
func TestABranchStaysWhereItWasJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, meanwhile, error string }{
		"loose":       {"", "git update-ref refs/heads/topic/b evil; git branch -D topic/b; git branch -f topic/b evil", ""},
		"packed":      {"git pack-refs --all", "git update-ref refs/heads/topic/b evil; git pack-refs --all", ""},
		"by no git":   {"", "git rev-parse evil >.git/refs/heads/topic/b", "which moved from"},
		"another git": {": >.git/refs/heads/topic/b.lock", "", "another git is at work"},
		"symbolic":    {"git symbolic-ref refs/heads/topic/b refs/heads/evil", "", "another name for evil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := gitWorld(t)
			w.branch("topic/b", `write a.txt "two\n"`)
			w.branch("evil", `write .envrc "x\n"`)
			w.shell(c.before)
			git := lookPath(t, "git")
			w.script("../bin/git", `case "$*" in *" switch "*) (:; `+c.meanwhile+`) >/dev/null 2>&1 ;; esac; exec `+git+` "$@"`)
			w.registry.LookPath = func(string) (string, error) { return w.path("../bin/git"), nil }
			w.do("session s full_access")
			got := w.gitTool("git.branch", switchTo("topic/b"))
			switch {
			case c.error == "" && (!got.OK || w.exists(".envrc") || read(t, w.path("a.txt")) != "two\n" || w.says("status", "--porcelain") != ""):
				t.Errorf("%+v, %v, %s", got, got.Error, w.says("status"))
			case c.error != "" && (got.OK || !strings.Contains(got.Error.Message, c.error)):
				t.Errorf("%+v, %v", got, got.Error)
			}
			if w.exists(".git/refs/heads/topic/b.lock") != (name == "another git") || w.exists(".git/packed-refs.lock") {
				t.Error("a lock is left")
			}
		})
	}
}

// TestAFirstCheckoutIsNoSwitch: without an index git writes files in which the commits do not differ.
func TestAFirstCheckoutIsNoSwitch(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{"none": "rm .git/index", "empty": "git read-tree --empty; touch -d @0 .git/index"} {
		w := gitWorld(t)
		w.says("branch", "other")
		w.shell("rm a.txt b.txt; " + lines)
		w.do("session s full_access")
		if got := w.gitTool("git.branch", switchTo("other")); got.OK || w.exists("a.txt") || !strings.Contains(got.Error.Message, "no index") {
			t.Errorf("%s: %+v, %v", name, got, got.Error)
		}
	}
}

// TestASwitchOfASparseCheckout is judged by all that it may bring back, whatever its patterns mean to git.
func TestASwitchOfASparseCheckout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ patterns, settings, made string }{ // by which git switches, and what it makes then
		{"/a.txt", "", ""},
		{"/*", "", ".envrc b.txt web/in/x web/y"},
		{"/a.txt web/* !/web/in/", "", "web/y"},
		{"/* !/*/ /web/ !/web/*/", "", ".envrc b.txt web/y"},
		{"/a.txt /.ENVRC", "core.ignoreCase=true", ".envrc"},
		{"/web/", "core.sparseCheckoutCone=true", ".envrc b.txt web/in/x web/y"},
	} {
		t.Run(c.patterns, func(t *testing.T) {
			t.Parallel()
			w := gitWorld(t)
			for _, name := range []string{".envrc", "web/y", "web/in/x"} {
				w.write(name, "x\n")
			}
			w.says("add", "-A")
			w.says("commit", "-qm", "two")
			w.branch("other", `write a.txt "two\n"`)
			w.says("config", "core.sparseCheckout", "true")
			w.write(".git/info/sparse-checkout", "/a.txt\n")
			w.says("sparse-checkout", "reapply")
			w.write(".git/info/sparse-checkout", strings.ReplaceAll(c.patterns, " ", "\n"))
			if key, value, is := strings.Cut(c.settings, "="); is {
				w.says("config", key, value)
			}
			before := w.contents(".")
			need := w.needs("git.branch", switchTo("other"))
			at := slices.IndexFunc(need.Preview.Facts, func(f approval.Fact) bool { return f.Code == "files" })
			var shown []string
			for _, item := range need.Preview.Facts[at].Items {
				if name, is := strings.CutSuffix(item, ", if the sparse checkout wants it"); is {
					shown = append(shown, strings.Fields(name)[1])
				}
			}
			slices.Sort(shown)
			if got := strings.Join(shown, " "); got != ".envrc b.txt web/in/x web/y" || len(need.Reasons) < 2 || len(need.Preview.Facts[at].Items) != len(shown)+1 {
				t.Errorf("%s because %q, shown are %q", need.Verdict, need.Reasons, need.Preview.Facts[at].Items)
			}
			if got := w.gitTool("git.branch", switchTo("other")); !got.OK {
				t.Error(got.Error)
			}
			var made []string
			for _, name := range w.changed(".", before) {
				if name = strings.TrimPrefix(name, "/"); !strings.HasPrefix(name, ".git/") && name != "a.txt" {
					made = append(made, name)
				}
			}
			slices.Sort(made)
			if strings.Join(made, " ") != c.made {
				t.Errorf("git made %q", made)
			}
		})
	}
}

// TestASparseCheckoutThatChangesUnderADialog: an approval counts for the files that it showed.
func TestASparseCheckoutThatChangesUnderADialog(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.write(".envrc", "x\n")
	w.says("add", "-A")
	w.says("commit", "-qm", "two")
	w.branch("other", `write a.txt "two\n"`)
	w.says("config", "core.sparseCheckout", "true")
	w.write(".git/info/sparse-checkout", "/*\n")
	w.do("remove .envrc")
	state := func() string {
		b, err := w.registry.Git().Switch(t.Context(), w.path("."), w.path("."), "other")
		w.must(err)
		return b.State()
	}
	before := state()
	w.says("update-index", "--skip-worktree", ".envrc")
	if state() == before {
		t.Error("the dialog stays")
	}
}
