package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// inDraft is an editor with its session in mode draft, in a repository with these files.
func inDraft(t *testing.T, files map[string]string, o testrig.Options) *testrig.Editor {
	t.Helper()
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	e := spawn(t, o)
	for name, text := range files {
		e.Write(name, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		if git.Dir = e.Dir; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	e.Must("session/setMode", object{"sessionId": "editor", "mode": "draft"}, nil)
	return e
}

// drafts are those that there are, each as its files with what was done to them.
func drafts(e *testrig.Editor) string {
	var got struct {
		Drafts []struct {
			SessionID string `json:"sessionId"`
			Commands  bool   `json:"commands"`
			Files     []struct {
				Path, Kind         string
				Added, Removed     int
				Ignored, Protected bool
			} `json:"files"`
		} `json:"drafts"`
	}
	e.Must("draft/list", object{}, &got)
	var out []string
	for _, d := range got.Drafts {
		for _, f := range d.Files {
			one := fmt.Sprintf("%s %s %s +%d-%d", d.SessionID, f.Kind, f.Path, f.Added, f.Removed)
			if f.Ignored {
				one += " ignored"
			}
			if f.Protected {
				one += " protected"
			}
			out = append(out, one)
		}
	}
	return strings.Join(out, "\n")
}

// ok fails where a call did.
func ok(t *testing.T, r testrig.Result) testrig.Result {
	t.Helper()
	if r.IsError {
		t.Fatalf("it failed: %s", r.Text())
	}
	return r
}

// left are the paths that a review left in the draft, and applied those that it applied.
func reviewed(r testrig.Result) (applied, left string) {
	names := func(field string) string {
		var out []string
		all, _ := r.StructuredContent[field].([]any)
		for _, one := range all {
			out = append(out, one.(map[string]any)["path"].(string))
		}
		return strings.Join(out, " ")
	}
	return names("applied"), names("left")
}

// hunks are the ids of a request's hunks, by their files.
func hunksOf(a *testrig.Approval) map[string][]string {
	preview, _ := a.Params["preview"].(map[string]any)
	out := map[string][]string{}
	for _, f := range preview["files"].([]any) {
		file := f.(map[string]any)
		for _, h := range file["hunks"].([]any) {
			out[file["path"].(string)] = append(out[file["path"].(string)], h.(map[string]any)["id"].(string))
		}
	}
	return out
}

func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %d\n", i)
	}
	return out.String()
}

// TestADraft: all tools and commands work on it, nothing of it is in the workspace, and what the user takes is.
func TestADraft(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"a.txt": numbered(40), "gone.py": "gone\n", "c.txt": "c\n", ".gitignore": "out/\n", ".vscode/tasks.json": "{}\n"}, testrig.Options{Kinds: []string{"review"}})
	before := treeOf(t, e.Dir)
	for _, c := range []struct {
		tool string
		args object
	}{
		{"edit_file", object{"path": "a.txt", "old_string": "line 3\n", "new_string": "LINE 3\n"}},
		{"edit_file", object{"path": "a.txt", "old_string": "line 33\n", "new_string": "LINE 33\n"}},
		{"write_file", object{"path": "new/n.txt", "content": "n\n"}},
		{"write_file", object{"path": ".vscode/tasks.json", "content": "{\"x\": 1}\n"}},
		{"delete_file", object{"path": "gone.py"}},
		{"run_command", object{"command": "echo d >c.txt; mkdir -p out; echo o >out/o; ln -s a.txt link; python3 -c \"open('made.py', 'w').write('1')\""}},
	} {
		check.Same(t, "the draft's mark", ok(t, e.Call(c.tool, c.args)).StructuredContent["draft"], any(true))
	}
	check.Has(t, "a read", ok(t, e.Call("read_file", object{"path": "a.txt"})).Text(), "LINE 33")
	check.Has(t, "a search", ok(t, e.Call("search_in_project", object{"query": "LINE 3"})).Text(), "a.txt")
	check.Has(t, "a list", ok(t, e.Call("list_files", object{})).Text(), "made.py")
	check.Has(t, "git.status", ok(t, e.Call("git.status", object{})).Text(), "gone.py")
	check.Has(t, "a command", fmt.Sprint(ok(t, e.Call("run_command", object{"command": "git diff --stat; cat new/n.txt"})).StructuredContent["stdout"]), "n\n")
	check.Same(t, "the workspace", treeOf(t, e.Dir), before)
	check.Same(t, "the draft", drafts(e), "editor changed .vscode/tasks.json +1-1 protected\neditor changed a.txt +2-2\neditor changed c.txt +1-1\neditor created made.py +1-0\neditor created new/n.txt +1-0\neditor deleted gone.py +0-1\neditor created link +0-0\neditor created out +0-0 ignored")

	check.Has(t, "git that writes", e.Call("git.commit", object{"message": "x"}).Text(), "POLICY_DENIED")
	commit := e.Call("run_command", object{"command": "git commit -qam x"}).StructuredContent
	if commit["exit_code"] == float64(0) || !strings.Contains(fmt.Sprint(commit["hint"]), "submit_changes") {
		t.Errorf("git that writes, as a command, gives %v", commit)
	}

	a, done := e.Ask("submit_changes", object{"summary": "All of it"})
	check.Same(t, "of a draft", a.Params["preview"].(map[string]any)["draft"], any(true))
	r := answered(t, a, done, object{"decision": "reject"})
	applied, left := reviewed(ok(t, r))
	check.Same(t, "applied", applied, "")
	check.Same(t, "left", left, ".vscode/tasks.json a.txt c.txt made.py new/n.txt gone.py link out")
	a, done = e.Ask("submit_changes", object{})
	check.Has(t, "with a reason", answered(t, a, done, object{"decision": "reject", "feedback": "no"}).Text(), "USER_REJECTED: the user rejected this: no")
	check.Same(t, "the workspace", treeOf(t, e.Dir), before)

	a, done = e.Ask("submit_changes", object{})
	ids := hunksOf(a)
	r = ok(t, answered(t, a, done, object{
		"decision": "approve", "selected": []string{ids["a.txt"][1], ids["made.py"][0]}, "digest": a.Text("digest"),
		"comments": []object{{"path": "c.txt", "line": 1, "text": "why?"}},
	}))
	applied, left = reviewed(r)
	check.Same(t, "applied", applied, "a.txt made.py")
	check.Same(t, "left", left, ".vscode/tasks.json a.txt c.txt new/n.txt gone.py link out")
	check.Has(t, "what the agent reads", r.Text(), "c.txt:1: why?")
	check.Same(t, "a.txt", e.Read("a.txt"), strings.Replace(numbered(40), "line 33", "LINE 33", 1))
	check.Has(t, "the draft's", ok(t, e.Call("read_file", object{"path": "a.txt"})).Text(), "LINE 3\n")

	var got struct {
		Applied []any `json:"applied"`
	}
	go func() {
		a := testrig.Wait(t, e.Approvals, "the review")
		a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
	}()
	e.Must("draft/review", object{"sessionId": "editor"}, &got)
	check.Same(t, "applied", len(got.Applied), 6)
	check.Same(t, "the draft", drafts(e), "editor created out +0-0 ignored")
	check.Same(t, "link", e.Read("link"), strings.NewReplacer("line 3\n", "LINE 3\n", "line 33", "LINE 33").Replace(numbered(40)))
	e.Must("draft/discard", object{"sessionId": "editor"}, nil)
	check.Same(t, "the draft", drafts(e), "")
	check.Has(t, "an empty one", ok(t, e.Call("submit_changes", object{})).Text(), "nothing to apply")
	r2 := revert(e, object{"sessionId": "editor"})
	if len(r2.Conflicts) > 0 {
		t.Errorf("%+v", r2)
	}
	check.Same(t, "reverted", treeOf(t, e.Dir), before)
}

// TestCallsOnADraftAreInTheLog, commands with their lines.
func TestCallsOnADraftAreInTheLog(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"a.txt": "one\n"}, testrig.Options{})
	ok(t, e.Call("edit_file", object{"path": "a.txt", "old_string": "one", "new_string": "two"}))
	ok(t, e.Call("run_command", object{"command": "cat a.txt; echo more"}))
	_, calls := audited(t, e)
	if len(calls) != 2 || strings.Join(calls[0].Paths, " ") != "a.txt" || calls[0].Access != "edit" || calls[1].Command != "cat a.txt; echo more" || calls[1].Access != "exec" {
		t.Errorf("the log has %+v", calls)
	}
}

// TestADraftAndTheUser: what the user changes meanwhile is merged, or left with why.
func TestADraftAndTheUser(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"a.txt": numbered(40), "b.txt": "b\n", "c.txt": "c\n", "typed.txt": numbered(20)}, testrig.Options{Kinds: []string{"review"}})
	e.Open("typed.txt")
	e.Type("typed.txt", at(1, 0), "unsaved ")
	check.Has(t, "unsaved text", fmt.Sprint(ok(t, e.Call("run_command", object{"command": "head -2 typed.txt"})).StructuredContent["stdout"]), "unsaved line 1")
	check.Same(t, "is no change", drafts(e), "")
	ok(t, e.Call("run_command", object{"command": "sed -i 's/line 30/LINE 30/' a.txt; echo theirs >b.txt; rm c.txt; sed -i 's/line 15/LINE 15/' typed.txt"}))
	e.Write("a.txt", strings.Replace(numbered(40), "line 3\n", "mine\n", 1))
	e.Write("b.txt", "mine\n")
	e.Write("c.txt", "mine\n")
	e.Write("later.txt", "later\n")
	e.Type("typed.txt", at(3, 0), "later ")
	check.Has(t, "what was written since", ok(t, e.Call("read_file", object{"path": "later.txt"})).Text(), "later")
	a, done := e.Ask("submit_changes", object{})
	r := ok(t, answered(t, a, done, object{"decision": "approve", "digest": a.Text("digest")}))
	applied, left := reviewed(r)
	check.Same(t, "applied", applied, "a.txt typed.txt")
	check.Same(t, "left", left, "b.txt c.txt")
	check.Same(t, "a.txt", e.Read("a.txt"), strings.NewReplacer("line 3\n", "mine\n", "line 30", "LINE 30").Replace(numbered(40)))
	check.Same(t, "b.txt", e.Read("b.txt")+e.Read("c.txt"), "mine\nmine\n")
	check.Same(t, "typed.txt", e.Buffer("typed.txt").Text, strings.NewReplacer("line 1\n", "unsaved line 1\n", "line 3\n", "later line 3\n", "line 15", "LINE 15").Replace(numbered(20)))
}

// TestADraftLosesNothing where a folder is made again, a file becomes a link, or a process goes on that sees files as they were.
func TestADraftLosesNothing(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"again/same": "same\n", "again/other": "other\n", "again/part": numbered(40), "linked": "one\n", "seen": numbered(40)}, testrig.Options{Kinds: []string{"review"}})
	ok(t, e.Call("run_command", object{"command": "cp again/part p; rm -r again; mkdir again; echo same >again/same; sed 's/line 3$/LINE 3/; s/line 33/LINE 33/' p >again/part; rm p; ln -sf seen linked"}))
	ok(t, e.Call("run_persistent", object{"command": "sleep 1000", "process_id": "p"}))
	for _, name := range []string{"linked", "seen"} { // as editors save
		e.Write(name+".new", strings.Replace(e.Read(name), "one\n", "mine\n", 1)+"mine\n")
		must(t, os.Rename(filepath.Join(e.Dir, name+".new"), filepath.Join(e.Dir, name)))
	}
	ok(t, e.Call("run_command", object{"command": "sed -i s/line.5$/theirs/ seen"}))
	ok(t, e.Call("kill_process", object{"process_id": "p"}))
	check.Has(t, "what is the same", ok(t, e.Call("read_file", object{"path": "again/same"})).Text(), "same")
	check.Same(t, "the draft", drafts(e), "editor changed again/part +2-2\neditor deleted again/other +0-1\neditor changed linked +0-0\neditor changed seen +0-0")
	a, done := e.Ask("submit_changes", object{})
	applied, left := reviewed(ok(t, answered(t, a, done, object{"decision": "approve", "selected": hunksOf(a)["again/part"][:1], "digest": a.Text("digest")})))
	check.Same(t, "applied", applied, "again/part")
	check.Same(t, "left", left, "again/part again/other linked seen")
	check.Same(t, "the draft", drafts(e), "editor changed again/part +1-1\neditor deleted again/other +0-1\neditor changed linked +0-0\neditor changed seen +0-0")
	e.Must("draft/discard", object{"sessionId": "editor", "paths": []string{}}, nil)
	e.Must("draft/discard", object{"sessionId": "editor", "paths": []string{"again/other", "linked", "seen"}}, nil)
	check.Same(t, "the draft", drafts(e), "editor changed again/part +1-1")
	check.Has(t, "seen", ok(t, e.Call("read_file", object{"path": "seen"})).Text(), "mine")
	check.Has(t, "other", ok(t, e.Call("read_file", object{"path": "again/other"})).Text(), "other")
}

// TestSecretsInADraft ask as ever, also before they are moved, changed or taken away.
func TestSecretsInADraft(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{".env": "KEY=hunter2\n", "Makefile": "test:\n\techo made\n"}, testrig.Options{Settings: object{"permissions": object{"allow": []string{"run_command(make test)"}}}})
	for tool, args := range map[string]object{
		"read_file": {"path": ".env"}, "write_file": {"path": ".env", "content": "x\n"}, "move_file": {"from": ".env", "to": "q.txt"}, "delete_file": {"path": ".env"},
	} {
		a, done := e.Ask(tool, args)
		check.Has(t, tool, answered(t, a, done, object{"decision": "reject"}).Text(), "USER_REJECTED")
	}
	ok(t, e.Call("write_file", object{"path": "Makefile", "content": "test:\n\tcat .env; echo ran\n"}))
	check.Same(t, "what a rule lets run", fmt.Sprint(ok(t, e.Call("run_command", object{"command": "make test"})).StructuredContent["stdout"]), "cat .env; echo ran\nran\n")
}

// TestADraftStays when its sidecar is killed, and another session does not see it.
func TestADraftStays(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	e := inDraft(t, map[string]string{"a.txt": "one\n"}, testrig.Options{Home: home, Kinds: []string{"review"}})
	ok(t, e.Call("edit_file", object{"path": "a.txt", "old_string": "one", "new_string": "two"}))
	var other testrig.Result
	e.Must("tools/call", object{"name": "read_file", "arguments": object{"path": "a.txt"}, "sessionId": "another"}, &other)
	check.Has(t, "what another session reads", other.Text(), "one")
	must(t, e.Command.Process.Kill())
	<-e.Conn.Done()
	e = spawn(t, testrig.Options{Home: home, Dirs: []string{e.Dir}, Kinds: []string{"review"}})
	check.Same(t, "the draft", drafts(e), "editor changed a.txt +1-1")
	go func() {
		a := testrig.Wait(t, e.Approvals, "the review")
		a.Answer <- object{"decision": "reject", "decisionId": "discard", "digest": a.Text("digest")}
	}()
	var got struct{ Discarded bool }
	e.Must("draft/review", object{"sessionId": "editor"}, &got)
	check.Same(t, "discarded", got.Discarded, true)
	check.Same(t, "the draft", drafts(e), "")
	check.Same(t, "a.txt", e.Read("a.txt"), "one\n")

	e.Must("session/setMode", object{"sessionId": "editor", "mode": "draft"}, nil)
	ok(t, e.Call("write_file", object{"path": "b.txt", "content": "b\n"}))
	check.Same(t, "the draft", drafts(e), "editor created b.txt +1-0")
	e.Stop()
	records, err := filepath.Glob(filepath.Join(home, ".local/state/pillion/drafts/*/draft.json"))
	must(t, err)
	old := time.Now().AddDate(0, 0, -15)
	must(t, os.Chtimes(records[0], old, old))
	check.Same(t, "after 15 days without use", drafts(spawn(t, testrig.Options{Home: home, Dirs: []string{e.Dir}})), "")
}

// TestADraftIsBounded, and what is larger is ended.
func TestADraftIsBounded(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"a.txt": "one\n"}, testrig.Options{Settings: object{"drafts": object{"maxBytes": 1 << 20}}})
	r := e.Call("run_command", object{"command": "yes >big"})
	check.Has(t, "it is", r.Text(), "FILE_TOO_LARGE: the draft has become too large")
}

// TestAReviewByPatchReview is for editors that show drafts by that request.
func TestAReviewByPatchReview(t *testing.T) {
	t.Parallel()
	e := inDraft(t, map[string]string{"a.txt": numbered(40)}, testrig.Options{})
	ok(t, e.Call("run_command", object{"command": "sed -i 's/line 3$/LINE 3/; s/line 33/LINE 33/' a.txt; echo n >n.txt"}))
	for _, c := range []struct {
		answer object
		want   string
	}{
		{object{"action": "reject", "feedback": "no", "comments": []object{{"path": "a.txt", "line": 4, "text": "why?"}}}, "USER_REJECTED: the user rejected this: no\na.txt:4: why?"},
		{object{"action": "apply", "selected": []string{"1"}}, "The user applied 1 file of the draft"},
		{object{"action": "discard"}, "The user discarded the draft"},
	} {
		done := e.Start("submit_changes", object{"summary": "Shout"})
		review := testrig.Wait(t, e.Reviews, "patch/review")
		var params struct {
			Draft bool `json:"draft"`
			Files []struct {
				Path  string
				Hunks []struct{ Lines []string }
			}
		}
		must(t, json.Unmarshal(review.Raw, &params))
		if !params.Draft || len(params.Files) != 2 {
			t.Errorf("it shows %s", review.Raw)
		}
		review.Answer <- c.answer
		check.Has(t, "what the agent reads", testrig.Wait(t, done, "the result").Text(), c.want)
	}
	check.Same(t, "a.txt", e.Read("a.txt"), strings.Replace(numbered(40), "line 3\n", "LINE 3\n", 1))
	if _, err := os.Lstat(filepath.Join(e.Dir, "n.txt")); err == nil {
		t.Error("n.txt is there")
	}
}

// TestADraftIsReviewedWhenATurnEnds of an agent behind a gateway.
func TestADraftIsReviewedWhenATurnEnds(t *testing.T) {
	t.Parallel()
	e, _, c := atGateway(t, testrig.Options{Home: t.TempDir(), Kinds: []string{"review"}})
	e.Write("a.txt", "one\n")
	e.Must("session/setMode", object{"sessionId": "one", "mode": "draft"}, nil)
	c.Send(object{"type": "agent_status", "status": "thinking"})
	c.Call("w1", "write_file", object{"path": "a.txt", "content": "two\n"})
	check.Same(t, "the call's end", c.Next().Text("type"), "tool_result")
	check.Same(t, "a.txt", e.Read("a.txt"), "one\n")
	c.Send(object{"type": "agent_status", "status": "idle"})
	a := testrig.Wait(t, e.Approvals, "the review")
	a.Answer <- object{"decision": "approve", "digest": a.Text("digest")}
	testrig.Wait(t, e.Journal, "the change of the workspace")
	check.Same(t, "a.txt", e.Read("a.txt"), "two\n")
}
