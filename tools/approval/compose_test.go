package approval_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

func composed(p approval.Preview, more approval.Request) approval.Request {
	more.Preview = p
	more.Agent = approval.Agent{Name: "claude", Via: "mcp"}
	return more.Compose()
}

func facts(list []approval.Fact) []string {
	var out []string
	for _, f := range list {
		out = append(out, f.String())
	}
	return out
}

func changes(tool string, files ...change.FilePreview) approval.Preview {
	return composed(approval.Preview{Kind: "diff", Files: approval.Files(files)}, approval.Request{Tool: tool}).Preview
}

var three = 3

var (
	text   = change.FilePreview{Path: "src/app.py", Operation: change.Overwrite, Size: 20, Before: "a\n", After: "b\n"}
	folder = change.FilePreview{Path: "old", Operation: change.Delete, Entries: &three, Diff: "old/a.py\nold/b\u202e.py\n"}
	move   = change.FilePreview{Path: "a.py", Operation: change.Move, To: "lib/b.py"}
	made   = change.FilePreview{Path: "new", Operation: change.CreateDirectory}
	mode   = change.FilePreview{Path: "run.sh", Operation: change.ChangeMode, Whole: "made executable, mode 100644 → 100755"}
	gone   = change.FilePreview{Path: "notes.txt", Operation: change.Delete, Before: "x\n"}
	bytes  = change.FilePreview{Path: "old.bin", Operation: change.Delete, Whole: "binary, 4 bytes"}
)

func TestWhatIsSaidOfFiles(t *testing.T) {
	create := change.FilePreview{Path: "n.sh", Operation: change.Create, Size: 1, Note: "executable, mode 100755"}
	for _, c := range []struct {
		tool                    string
		files                   []change.FilePreview
		deed, question, summary string
		text                    bool
	}{
		{"edit_file", []change.FilePreview{text}, "edit src/app.py", "Change files?", "", true},
		{"write_file", []change.FilePreview{text}, "overwrite src/app.py", "Change files?", "2 → 20 bytes", true},
		{"write_file", []change.FilePreview{create}, "create n.sh", "Change files?", "new file, executable, mode 100755, 1 byte", true},
		{"delete_file", []change.FilePreview{folder}, "delete the folder old", "Delete a folder?", "deleted, 3 files", false},
		{"delete_file", []change.FilePreview{gone}, "delete notes.txt", "Delete a file?", "deleted", true},
		{"delete_file", []change.FilePreview{bytes}, "delete old.bin (binary, 4 bytes)", "Delete a file?", "deleted, binary, 4 bytes", false},
		{"move_file", []change.FilePreview{move}, "move a.py to lib/b.py", "Move a file?", "moved to lib/b.py", false},
		{"create_directory", []change.FilePreview{made}, "create the folder new", "Create a folder?", "new folder", false},
		{"apply_patch", []change.FilePreview{mode}, "edit run.sh (made executable, mode 100644 → 100755)", "Change files?", mode.Whole, false},
		{"apply_patch", []change.FilePreview{{Path: "run.sh", Operation: change.Overwrite}, mode}, "edit run.sh", "Change files?", "", true},
		{"apply_patch", []change.FilePreview{text, create}, "edit 2 files", "Change files?", "", true},
		{"apply_patch", []change.FilePreview{create, text}, "edit 2 files", "Change files?", create.Note + ", 1 byte", true},
		{"apply_patch", []change.FilePreview{gone, bytes}, "delete 2 files", "Change files?", "deleted", true},
	} {
		p := changes(c.tool, c.files...)
		f := p.Files[0]
		if p.Deed != c.deed || p.Question != c.question || !strings.HasSuffix(f.Summary, c.summary) || f.Text != c.text {
			t.Errorf("%s of %d: deed %q, question %q, summary %q, text %t", c.tool, len(c.files), p.Deed, p.Question, f.Summary, f.Text)
		}
	}
	if got, want := facts(changes("", folder).Files[0].Facts), []string{"Contents:\n- 3 files\n- old/a.py\n- old/b\\u202e.py"}; !slices.Equal(got, want) {
		t.Errorf("of a folder it says %q", got)
	}
	if got := facts(changes("", move).Files[0].Facts); !slices.Equal(got, []string{"From: a.py", "To: lib/b.py"}) {
		t.Errorf("of a move it says %q", got)
	}
}

// TestAnEncodingIsAFact: what is written is bytes, and the dialog shows a text.
func TestAnEncodingIsAFact(t *testing.T) {
	plain, hides := text, text
	plain.Encoding, hides.Encoding, hides.Disguised = "windows-1252", "utf-16be", true
	for _, c := range []struct {
		file       change.FilePreview
		want, tone string
	}{
		{text, "", ""},
		{plain, "windows-1252", ""},
		{hides, "utf-16be: read as ASCII, as programs do, its bytes are another text than this one", "warning"},
	} {
		f := changes("write_file", c.file).Files[0]
		said, tone := "", ""
		for _, fact := range f.Facts {
			said, tone = fact.Text, string(fact.Tone)
		}
		if said != c.want || tone != c.tone || f.Banner != c.want {
			t.Errorf("%q, %q, above it %q", said, tone, f.Banner)
		}
	}
}

// TestAPreviewOfNothing: of a revert that leaves every file alone.
func TestAPreviewOfNothing(t *testing.T) {
	if p := approval.ComposeFiles(nil); len(p.Files) != 0 || p.Facts == nil {
		t.Errorf("%+v", p)
	}
}

func TestBanners(t *testing.T) {
	reasons := []approval.Reason{{Code: approval.ReasonClass, Text: "this tool changes files"}, approval.Because("protected", "run.sh is a program"), approval.Because("merged", "it was merged")}
	merged := text
	merged.Merged = true
	one := composed(approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{text})}, approval.Request{Reasons: reasons}).Preview.Files
	if got := one[0].Banner; got != "asks because run.sh is a program" {
		t.Errorf("above one file: %q", got)
	}
	two := composed(approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{merged, gone})}, approval.Request{Reasons: reasons}).Preview.Files
	if got := two[0].Banner; got != "merged with changes made since the agent read it · the change of 2 files asks because run.sh is a program" {
		t.Errorf("above one of two: %q", got)
	}
	draft := composed(approval.Preview{Kind: "diff", Draft: true, Message: "take\none", Files: approval.Files([]change.FilePreview{text})}, approval.Request{Agent: approval.Agent{Name: "claude"}, Decisions: []approval.Choice{{ID: approval.ApproveID}}})
	if got := []string{draft.Preview.Deed, draft.Preview.Question, draft.Preview.Files[0].Banner, draft.Decisions[0].Title}; !slices.Equal(got, []string{"apply its draft of src/app.py", "Draft of claude", "take one", "Apply"}) {
		t.Errorf("%q", got)
	}
	review := composed(approval.Preview{Kind: "review", Message: "take\none", Files: approval.Files([]change.FilePreview{text})}, approval.Request{}).Preview
	if got := review.Files[0].Banner; got != "take one" || review.Deed != "have a patch of src/app.py reviewed" || !slices.Equal(facts(review.Facts), []string{"Message:\n- take\n- one", "Asked by: claude, over MCP"}) {
		t.Errorf("above a review: %q, %q, %q", got, review.Deed, facts(review.Facts))
	}
}

func TestWhatIsSaidOfACommand(t *testing.T) {
	arguments, _ := json.Marshal(map[string]any{"command": "x", "process_id": "web", "env": map[string]string{"CI": "1", "A\nB": "x"}, "stdin": "y\nNetwork: blocked\n"})
	r := composed(approval.Preview{
		Kind: "command", Command: "cd src && make >log", Cwd: "src", Network: true, Sandbox: "none", Unsaved: []string{"a.py"}, Writes: []string{"src/log"},
		Parts: []approval.CommandPart{{Argv: []string{"cd", "src"}}, {Argv: []string{"make"}, Why: "it writes to log"}},
	}, approval.Request{
		Arguments: arguments,
		Reasons:   append(approval.UnsavedReason([]string{"a.py"}), approval.Because("class", "this tool runs a program"), approval.Because("class", "this tool runs a program"), approval.Because(approval.ReasonInput, "its input is y")),
	})
	want := []string{
		"Process: web: runs until it ends, you stop it or the agent disconnects; what the agent types into it is not asked about again", "Folder: src",
		"Runs:\n- cd src   (allowed by a rule)\n- make   (it writes to log)", "Writes: src/log", "Unsaved changes not included: a.py",
		"Environment:\n- A\\nB=x\n- CI=1", "Input:\n- y\n- Network: blocked", "Sandbox: none: the command has your own rights", "Network: allowed", "Asked by: claude, over MCP",
	}
	if got := facts(r.Preview.Facts); !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Preview.Act != "start a process" || r.Preview.Question != "Start a process?" || r.Preview.Deed != "start cd src && make >log" {
		t.Errorf("act %q, question %q, deed %q", r.Preview.Act, r.Preview.Question, r.Preview.Deed)
	}
	if i := slices.IndexFunc(r.Preview.Facts, func(f approval.Fact) bool { return f.Action == approval.ActionSave }); i < 0 || r.Preview.Facts[i].Code != "unsaved" || r.Preview.Facts[i].Tone != approval.Warning {
		t.Errorf("%+v", r.Preview.Facts)
	}
}

// TestSandboxesAreNotPraised: what is said of one promises no more than is so.
func TestSandboxesAreNotPraised(t *testing.T) {
	for _, c := range []struct {
		sandbox, want string
		network       bool
	}{
		{"none", "none: the command has your own rights", false},
		{"landlock", "Landlock: it writes only in the workspace, temporary folders and caches of its own|blocked", false},
		{"bubblewrap", "bubblewrap: it writes only in the workspace, temporary folders and caches of its own, and sees no other processes|allowed", true},
		{"something new\u200b", `something new\u200b`, false},
		{"", "", false},
	} {
		var got []string
		for _, f := range composed(approval.Preview{Kind: "command", Command: "ls", Sandbox: c.sandbox, Network: c.network}, approval.Request{}).Preview.Facts {
			if f.Code == "sandbox" || f.Code == "network" {
				got = append(got, f.Text)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q", c.sandbox, got)
		}
	}
}

// TestTheOnlyPartIsNoList: why it asks is among the reasons.
func TestTheOnlyPartIsNoList(t *testing.T) {
	p := approval.Preview{Kind: "command", Command: "ls", Parts: []approval.CommandPart{{Argv: []string{"ls"}, Why: "no rule allows it"}}}
	r := composed(p, approval.Request{Reasons: []approval.Reason{approval.Because("class", "this tool runs a program")}})
	want := []string{"Folder: the workspace folder", "Asks because: no rule allows it", "Asked by: claude, over MCP"}
	if got := facts(r.Preview.Facts); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWhatDecisionsMean(t *testing.T) {
	decisions := []approval.Choice{{ID: approval.RejectID}, {ID: approval.ApproveID}, {ID: "s", Scope: approval.Session}, {ID: "w", Scope: approval.Workspace}}
	for kind, want := range map[string]string{
		"command": "the agent goes on without it|once|for this session, without asking|always in this workspace, without asking",
		"plan":    "the agent stays in plan mode|the agent leaves plan mode and starts",
		"review":  "the agent gets nothing and goes on|the agent gets the hunks that you selected; no file changes",
		"draft":   "nothing is applied, and all of it stays in the draft|what you selected is in the workspace then; the rest stays in the draft",
	} {
		var got []string
		for _, d := range composed(approval.Preview{Kind: kind, Draft: kind == "draft", Files: approval.Files([]change.FilePreview{text})}, approval.Request{Decisions: decisions}).Decisions {
			got = append(got, d.Meaning)
		}
		if !strings.HasPrefix(strings.Join(got, "|"), want) {
			t.Errorf("%s: %q", kind, got)
		}
	}
	if decisions[0].Meaning != "" {
		t.Error("the caller's decisions were changed")
	}
}

// TestNothingComposedIsInvisible: whatever an agent, a file name or a tool puts into a request.
func TestNothingComposedIsInvisible(t *testing.T) {
	const nasty = "a\x1b[2J\u202eb\u200b\rc\n\td"
	file := change.FilePreview{Path: nasty, To: nasty, Operation: change.Move, Note: nasty, Whole: nasty, Entries: &three, Diff: nasty}
	arguments, _ := json.Marshal(map[string]any{"process_id": nasty, "env": map[string]string{nasty: nasty}, "stdin": nasty})
	for _, p := range []approval.Preview{
		{Kind: "diff", Files: approval.Files([]change.FilePreview{file, text})},
		{Kind: "review", Message: nasty, Files: approval.Files([]change.FilePreview{file})},
		{Kind: "command", Command: nasty, Cwd: nasty, Sandbox: nasty, Writes: []string{nasty}, Unsaved: []string{nasty}, Parts: []approval.CommandPart{{Argv: []string{nasty}, Why: nasty}}},
		{Kind: "url", URL: nasty},
		{Kind: "plan", Markdown: nasty},
		{Kind: "text", Deed: nasty, Message: nasty, Facts: []approval.Fact{{Label: "x", Text: nasty}, {Label: "y", Items: []string{nasty}}}},
	} {
		r := approval.Request{Agent: approval.Agent{Name: nasty}, Tool: nasty, Arguments: arguments, Reasons: []approval.Reason{{Text: nasty}}, Preview: p}.Compose()
		p = r.Preview
		said := slices.Concat([]string{p.Act, p.Deed, p.Subject, p.Question, r.Reasons[0].Text}, p.Lines, p.Notices)
		for _, f := range p.Files {
			said = append(said, f.Name, f.Deed, f.Summary, f.Banner)
			p.Facts = append(p.Facts, f.Facts...)
		}
		for _, f := range p.Facts {
			said = append(append(said, f.Label, f.Text), f.Items...)
		}
		for _, line := range said {
			if line != fault.Escape(line) || strings.ContainsAny(line, "\n\t") {
				t.Errorf("%s says %q", p.Kind, line)
			}
		}
	}
}

func TestPlainPreview(t *testing.T) {
	for name, test := range map[string]struct {
		preview approval.Preview
		want    string
	}{
		"diff":    {approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{Path: "a", Operation: change.Overwrite, Size: 2, Diff: "-a\n"}, {Path: "b", Operation: change.Create, Size: 1, Diff: "+b\n"}})}, "edit a, 2 bytes\n-a\ncreate b, new file, 1 byte\n+b\n"},
		"facts":   {approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{Path: "a", Operation: change.Overwrite, Size: 2, Merged: true, Diff: "-a\n"}})}, "edit a, 2 bytes\nMerged: with changes made since the agent read the file\n-a\n"},
		"message": {approval.Preview{Kind: "text", Message: "x\nBranch: main\n" + strings.Repeat("y", 101), Facts: []approval.Fact{approval.NewFact("branch", "Branch", "other")}}, "| x\n| Branch: main\n| " + strings.Repeat("y", 100) + "\n| … y\nBranch: other\n"},
		"command": {approval.Preview{Kind: "command", Command: "make", Cwd: ".", Writes: []string{"log"}}, "$ make\nFolder: the workspace folder\nWrites: log\n"},
		"url":     {approval.Preview{Kind: "url", URL: "http://example.org"}, "| http://example.org\nHost: example.org\n"},
		"text":    {approval.Preview{Kind: "text", Markdown: "Read .env"}, "| Read .env\n"},
	} {
		if got := plain(test.preview, 1000); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func plain(p approval.Preview, limit int) string {
	text, _ := approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, limit)
	return text
}

func TestPlainPreviewHidesNothing(t *testing.T) {
	got := plain(approval.Preview{Kind: "command", Command: "ls \u202e\x1b[2J", Cwd: "."}, 1000)
	if fault.Escape(got) != got || !strings.Contains(got, `\u202e`) {
		t.Errorf("%q has what cannot be seen", got)
	}
	cut := plain(approval.Preview{Kind: "text", Markdown: strings.Repeat("é", 100)}, 51)
	if want := "| " + strings.Repeat("é", 16) + "\n… 169 more bytes are not shown\n"; cut != want {
		t.Errorf("%q, want %q", cut, want)
	}
}

// TestAPlainCommandShowsBothEnds, and what is said of it, and cannot imitate that.
func TestAPlainCommandShowsBothEnds(t *testing.T) {
	p := approval.Preview{Kind: "command", Cwd: ".", Writes: []string{"log"}}
	p.Command = "echo first\n" + strings.Repeat("echo more\n", 400) + "rm -rf ~\nFolder: the workspace folder"
	got, whole := approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, 2000)
	for _, want := range []string{"$ echo first\n", "\n> rm -rf ~\n> Folder: the workspace folder\n", "more bytes are not shown", "\nWrites: log\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if whole || len(got) > 2200 {
		t.Errorf("%d bytes, whole: %v", len(got), whole)
	}
	p.Command = "true " + strings.Repeat(" ", 300) + "Sandbox: bubblewrap"
	got, whole = approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, 2000)
	for line := range strings.Lines(got) {
		if strings.Contains(line, "bubblewrap") && !strings.HasPrefix(line, "> … ") {
			t.Errorf("the command passes for what is said of it: %q", line)
		}
	}
	if !whole {
		t.Error("a short command is not whole")
	}
}
