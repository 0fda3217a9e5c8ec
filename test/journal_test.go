package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/workspace/journal"
)

// reverted is the result of journal/revert.
type reverted struct {
	Reverted, Merged, Conflicts []string
	Reasons                     map[string]string
	CallID                      string
	Preview                     *struct {
		Kind  string
		Files []struct {
			Path, Operation, Before, After string
			Entries                        *int
		}
	}
}

func revert(e *testrig.Editor, params object) (r reverted) {
	e.Must("journal/revert", params, &r)
	return r
}

// entries is what the journal has.
func entries(e *testrig.Editor, params object) []map[string]any {
	list := ask[struct{ Entries []map[string]any }](e, "journal/list", params)
	return list.Entries
}

// freely is an editor whose agents edit without asking.
func freely(t *testing.T, o testrig.Options) *testrig.Editor {
	if o.Settings == nil {
		o.Settings = object{"mode": "auto_edit"}
	}
	return spawn(t, o)
}

func (r reverted) want(t *testing.T, reverted, merged, conflicts []string) {
	t.Helper()
	if !slices.Equal(r.Reverted, reverted) || !slices.Equal(r.Merged, merged) || !slices.Equal(r.Conflicts, conflicts) {
		t.Errorf("%+v, want %q reverted, %q merged, %q in conflict", r, reverted, merged, conflicts)
	}
}

func wantText(t *testing.T, e *testrig.Editor, name, want string) {
	t.Helper()
	check.Same(t, "what "+name+" holds", e.Read(name), want)
}

// mustCall makes a call under an id.
func mustCall(t *testing.T, e *testrig.Editor, id, tool string, arguments object) {
	t.Helper()
	var r testrig.Result
	if e.Must("tools/call", object{"name": tool, "arguments": arguments, "callId": id, "sessionId": "ada"}, &r); r.IsError {
		t.Fatalf("%s: %+v", tool, r)
	}
}

// TestACallIsPutBack: listed, looked at, put back, and the revert put back too, while
// the editor hears of each.
func TestACallIsPutBack(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("a.txt", "one\ntwo\nthree\n")
	mustCall(t, e, "first", "edit_file", object{"path": "a.txt", "old_string": "two", "new_string": "2"})
	j := testrig.Wait(t, e.Journal, "journal/changed")
	if j.Entry.CallID != "first" || j.Entry.State != "done" || len(j.Files) != 1 || len(j.Files[0].Lines) != 1 || j.Files[0].Lines[0].Start != 1 || j.Files[0].Lines[0].End != 2 {
		t.Errorf("told of %+v", j)
	}
	if list := entries(e, object{"sessionId": "ada"}); len(list) != 1 || list[0]["callId"] != "first" || list[0]["tool"] != "edit_file" || list[0]["state"] != "done" {
		t.Errorf("listed %v", list)
	}
	r := revert(e, object{"callId": "first", "dryRun": true})
	if r.want(t, []string{"a.txt"}, []string{}, []string{}); r.Preview == nil || r.Preview.Files[0].After != "one\ntwo\nthree\n" || r.CallID != "" {
		t.Errorf("a dry run shows %+v", r.Preview)
	}
	wantText(t, e, "a.txt", "one\n2\nthree\n")
	r = revert(e, object{"callId": "first"})
	wantText(t, e, "a.txt", "one\ntwo\nthree\n")
	states := []string{}
	for range 2 {
		states = append(states, testrig.Wait(t, e.Journal, "journal/changed").Entry.State)
	}
	if !slices.Equal(states, []string{"done", "reverted"}) {
		t.Errorf("told of the states %v", states)
	}
	r = revert(e, object{"callId": r.CallID})
	wantText(t, e, "a.txt", "one\n2\nthree\n")
	check.Same(t, "after its revert was put back", entries(e, object{"callId": "first"})[0]["state"], "done")
	revert(e, object{"callId": r.CallID})
	var titles []string
	for _, entry := range entries(e, object{}) {
		titles = append(titles, entry["title"].(string))
	}
	if want := []string{"Revert: Edit a.txt", "Bring back: Edit a.txt", "Revert: Edit a.txt", "Edit a.txt"}; !slices.Equal(titles, want) {
		t.Errorf("the titles are %q, want %q", titles, want)
	}
}

// TestWhatGoesIsShown: also the folders that were made, and go when nothing is in them.
func TestWhatGoesIsShown(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	mustCall(t, e, "file", "write_file", object{"path": "made/deep/new.txt", "content": "new\n"})
	mustCall(t, e, "folder", "create_directory", object{"path": "empty"})
	for id, want := range map[string]string{"file": "made/deep/new.txt made/deep/ made/", "folder": "empty/"} {
		r := revert(e, object{"callId": id, "dryRun": true})
		var shown []string
		for _, f := range r.Preview.Files {
			if f.Entries != nil && *f.Entries == 0 {
				f.Path += "/"
			}
			if shown = append(shown, f.Path); f.Operation != "delete" {
				t.Errorf("%s: %s", f.Path, f.Operation)
			}
		}
		check.Same(t, "shown", strings.Join(shown, " "), want)
	}
	r := revert(e, object{"sessionId": "ada"})
	if got := treeOf(t, e.Dir); got != "" || len(r.Conflicts) > 0 {
		t.Errorf("left is %q; %v", got, r.Reasons)
	}
	check.Same(t, "the title", entries(e, object{"limit": 1})[0]["title"], "Revert 2 changes by fake editor")
}

func TestARevertNeedsASelector(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	for _, params := range []object{{}, {"dryRun": true}, {"turn": 1}, {"sinceTurn": 1}} {
		e.Refuses("journal/revert", params, wire.CodeInvalidParams)
	}
}

// TestTheFilesGoBackToBeforeATurn: with all later turns of the agent, and nothing else.
func TestTheFilesGoBackToBeforeATurn(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	for _, content := range []string{"first\n", "second\n", "third\n"} {
		mustCall(t, e, content, "write_file", object{"path": "a.txt", "content": content})
		mustCall(t, e, "made by "+content, "write_file", object{"path": content[:5] + ".txt", "content": content})
		e.Must("session/newTurn", object{"sessionId": "ada"}, nil)
	}
	e.Must("tools/call", object{"name": "write_file", "arguments": object{"path": "other.txt", "content": "by another\n"}, "sessionId": "bob"}, nil)
	if list := entries(e, object{"sessionId": "ada", "sinceTurn": 2}); len(list) != 4 {
		t.Errorf("listed %v", list)
	}
	r := revert(e, object{"sessionId": "ada", "sinceTurn": 2})
	r.want(t, []string{"third.txt", "a.txt", "secon.txt"}, []string{}, []string{})
	wantText(t, e, "a.txt", "first\n")
	wantText(t, e, "first.txt", "first\n")
	wantText(t, e, "other.txt", "by another\n")
}

// TestASessionIsPutBackAsOne: what the user typed into other lines stays, and what
// they typed into the same lines is left alone.
func TestASessionIsPutBackAsOne(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("a.txt", "one\ntwo\nthree\nfour\n")
	e.Write("b.txt", "one\n")
	for _, edit := range [][3]string{{"a.txt", "two", "2"}, {"a.txt", "2\n", "II\n"}, {"b.txt", "one", "1"}} {
		mustCall(t, e, "", "edit_file", object{"path": edit[0], "old_string": edit[1], "new_string": edit[2]})
	}
	e.Write("a.txt", strings.Replace(e.Read("a.txt"), "four", "the user's", 1))
	e.Write("b.txt", "1 and a half\n")
	r := revert(e, object{"sessionId": "ada"})
	r.want(t, []string{}, []string{"a.txt"}, []string{"b.txt"})
	if wantText(t, e, "a.txt", "one\ntwo\nthree\nthe user's\n"); r.Reasons["b.txt"] == "" {
		t.Error("nothing says why b.txt was left alone")
	}
	wantText(t, e, "b.txt", "1 and a half\n")
}

// TestAnOpenFileIsPutBackThroughTheEditor: unsaved text stays unsaved.
func TestAnOpenFileIsPutBackThroughTheEditor(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("a.txt", "one\ntwo\n")
	e.Open("a.txt")
	mustCall(t, e, "clean", "edit_file", object{"path": "a.txt", "old_string": "two", "new_string": "2"})
	revert(e, object{"callId": "clean"})
	if b := e.Buffer("a.txt"); b.Text != "one\ntwo\n" || b.Dirty {
		t.Errorf("the buffer is %+v", b)
	}
	wantText(t, e, "a.txt", "one\ntwo\n")
	e.Type("a.txt", at(0, 0), "mine\n")
	mustCall(t, e, "dirty", "edit_file", object{"path": "a.txt", "old_string": "two", "new_string": "2"})
	revert(e, object{"callId": "dirty"})
	if b := e.Buffer("a.txt"); b.Text != "mine\none\ntwo\n" || !b.Dirty {
		t.Errorf("the buffer is %+v", b)
	}
	wantText(t, e, "a.txt", "one\ntwo\n")
}

// TestTreesComeBack: what was made goes, what was moved or deleted comes back, with
// what the user wrote since.
func TestTreesComeBack(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("lib/a.txt", "a\n")
	e.Write("lib/deep/b.txt", "b\n")
	must(t, os.Symlink("a.txt", filepath.Join(e.Dir, "lib/link")))
	must(t, os.Chmod(filepath.Join(e.Dir, "lib/a.txt"), 0o600))
	e.Write("old.txt", "one\ntwo\nthree\nfour\nfive\n")
	for _, c := range []struct {
		tool      string
		arguments object
	}{
		{"write_file", object{"path": "made/deep/new.txt", "content": "new\n"}},
		{"edit_file", object{"path": "made/deep/new.txt", "old_string": "new", "new_string": "newer"}},
		{"create_directory", object{"path": "empty/folder"}},
		{"delete_file", object{"path": "lib", "recursive": true}},
		{"edit_file", object{"path": "old.txt", "old_string": "two", "new_string": "2"}},
		{"move_file", object{"from": "old.txt", "to": "sub/moved.txt"}},
		{"edit_file", object{"path": "sub/moved.txt", "old_string": "three", "new_string": "3"}},
	} {
		mustCall(t, e, "", c.tool, c.arguments)
	}
	e.Write("sub/moved.txt", strings.Replace(e.Read("sub/moved.txt"), "five", "mine", 1))
	before := treeOf(t, e.Dir)
	r := revert(e, object{"sessionId": "ada"})
	if len(r.Conflicts) > 0 {
		t.Errorf("left alone: %v", r.Reasons)
	}
	want := "lib/ lib/a.txt lib/deep/ lib/deep/b.txt lib/link->a.txt old.txt"
	check.Same(t, "the tree", treeOf(t, e.Dir), want)
	wantText(t, e, "old.txt", "one\ntwo\nthree\nfour\nmine\n")
	if info, err := os.Stat(filepath.Join(e.Dir, "lib/a.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a.txt came back with %v, %v", info, err)
	}
	r = revert(e, object{"callId": r.CallID})
	if got := treeOf(t, e.Dir); got != before || len(r.Conflicts) > 0 {
		t.Errorf("after the revert was put back there is %s, want %s; %v", got, before, r.Reasons)
	}
	wantText(t, e, "sub/moved.txt", "one\n2\n3\nfour\nmine\n")
	wantText(t, e, "made/deep/new.txt", "newer\n")
}

// TestWhatOthersMadeStays: a revert removes nothing that it did not make, and puts
// nothing over what stands there now.
func TestWhatOthersMadeStays(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("gone.txt", "gone\n")
	mustCall(t, e, "", "write_file", object{"path": "made/new.txt", "content": "new\n"})
	mustCall(t, e, "", "write_file", object{"path": "made/other.txt", "content": "other\n"})
	mustCall(t, e, "", "delete_file", object{"path": "gone.txt"})
	e.Write("made/new.txt", "the user's\n")
	e.Write("made/beside.txt", "the user's\n")
	e.Write("gone.txt", "the user's\n")
	r := revert(e, object{"sessionId": "ada"})
	r.want(t, []string{"made/other.txt"}, []string{}, []string{"gone.txt", "made/new.txt"})
	check.Same(t, "the tree", treeOf(t, e.Dir), "gone.txt made/ made/beside.txt made/new.txt")
	wantText(t, e, "gone.txt", "the user's\n")
	wantText(t, e, "made/new.txt", "the user's\n")
}

// treeOf lists all that is in a folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name) //nolint:errcheck // it is in dir
		switch {
		case err != nil || rel == ".":
		case d.IsDir():
			out = append(out, rel+"/")
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(name) //nolint:errcheck // it is a link
			out = append(out, rel+"->"+target)
		default:
			out = append(out, rel)
		}
		return err
	}))
	return strings.Join(out, " ")
}

// TestCommandsPutBack: an editor without a plugin gives no arguments, and reads what
// became of it in a message.
func TestCommandsPutBack(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{Plain: true, Settings: object{"mode": "auto_edit"}})
	if _, err := e.Execute("pillion.revertCall"); code(err) != wire.CodeRequestFailed {
		t.Errorf("with nothing in the journal: %v", err)
	}
	e.Write("a.txt", "one\ntwo\n")
	e.Write("b.txt", "one\n")
	for _, edit := range [][3]string{{"a.txt", "one", "1"}, {"b.txt", "one", "1"}, {"a.txt", "two", "2"}} {
		mustCall(t, e, "", "edit_file", object{"path": edit[0], "old_string": edit[1], "new_string": edit[2]})
	}
	got, err := e.Execute("pillion.revertCall")
	must(t, err)
	if message := testrig.Wait(t, e.Messages, "the message"); !strings.Contains(message, "a.txt is restored") || got["callId"] == "" {
		t.Errorf("%q, %v", message, got)
	}
	wantText(t, e, "a.txt", "1\ntwo\n")
	_, err = e.Execute("pillion.revertTurn")
	must(t, err)
	wantText(t, e, "a.txt", "one\ntwo\n")
	wantText(t, e, "b.txt", "one\n")
	mustCall(t, e, "", "edit_file", object{"path": "b.txt", "old_string": "one", "new_string": "1"})
	_, err = e.Execute("pillion.revertSession", "ada")
	must(t, err)
	wantText(t, e, "b.txt", "one\n")
}

// TestAReadableCopy of what is replaced or deleted is where the result says, for the
// user alone.
func TestAReadableCopy(t *testing.T) {
	t.Parallel()
	e := freely(t, testrig.Options{})
	e.Write("a.txt", "before\n")
	e.Write("lib/deep/b.txt", "b\n")
	backup := func(tool string, arguments object) string {
		t.Helper()
		r := e.Call(tool, arguments)
		if r.IsError {
			t.Fatalf("%s: %+v", tool, r)
		}
		path, _ := r.StructuredContent["backup_path"].(string)
		return path
	}
	copied := backup("write_file", object{"path": "a.txt", "content": "after\n"})
	info, err := os.Stat(copied)
	must(t, err)
	if text, err := os.ReadFile(copied); err != nil || string(text) != "before\n" || info.Mode().Perm() != 0o600 || filepath.Base(copied) != "a.txt" || strings.HasPrefix(copied, e.Dir) {
		t.Errorf("the copy %s has mode %v and holds %q, %v", copied, info.Mode(), text, err)
	}
	check.Same(t, "of a new file there is a copy", backup("write_file", object{"path": "new.txt", "content": "new\n"}), "")
	check.Same(t, "a copy that nobody wanted", backup("write_file", object{"path": "a.txt", "content": "again\n", "backup": false}), "")
	copied = backup("delete_file", object{"path": "lib", "recursive": true})
	if text, err := os.ReadFile(filepath.Join(copied, "deep/b.txt")); err != nil || string(text) != "b\n" {
		t.Errorf("of the folder there is %q, %v", text, err)
	}
}

// TestWhatAKilledSidecarLeftIsRepairedAtTheNextStart: its temporary file goes, the file
// is as it was, and the user finds what became of it.
func TestWhatAKilledSidecarLeftIsRepairedAtTheNextStart(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home := t.TempDir()
	file, temp := filepath.Join(dir, "a.txt"), filepath.Join(dir, ".pillion-LEFT.tmp")
	must(t, os.WriteFile(file, []byte("one\n"), 0o644))
	must(t, os.WriteFile(temp, []byte("tw"), 0o600))
	store, err := journal.Open(filepath.Join(home, ".local", "state", "pillion", "journal"), journal.Options{})
	must(t, err)
	state := func(text string) *journal.State {
		return &journal.State{Type: journal.TypeFile, Data: []byte(text)}
	}
	_, err = store.Begin(journal.Origin{CallID: "killed", SessionID: "ada", Agent: "claude"}, []journal.Record{{
		Operation: "overwrite", Name: "a.txt", Path: file, Before: state("one\n"), After: state("two\n"), Temp: temp,
	}})
	must(t, err)
	// A sidecar that lives keeps what it has begun.
	e := freely(t, testrig.Options{Dirs: []string{dir}, Home: home})
	var list struct {
		Entries []struct{ State, Why string }
	}
	if e.Must("journal/list", object{}, &list); len(list.Entries) != 0 || treeOf(t, dir) != ".pillion-LEFT.tmp a.txt" {
		t.Errorf("of one that lives: %+v, %s", list.Entries, treeOf(t, dir))
	}
	e.Stop()
	must(t, store.Close())
	e = freely(t, testrig.Options{Dirs: []string{dir}, Home: home})
	e.Must("journal/list", object{}, &list)
	if len(list.Entries) != 1 || list.Entries[0].State != "undone" || !strings.Contains(list.Entries[0].Why, "nothing was changed") {
		t.Errorf("listed %+v", list.Entries)
	}
	check.Same(t, "left behind", treeOf(t, dir), "a.txt")
	wantText(t, e, "a.txt", "one\n")
}

const (
	overwrites = "printf 'agent\\n' > a.txt && rm b.txt && mkdir new && echo c > new/c.txt"
	waits      = "printf 'agent\\n' > a.txt; echo > ready; sleep 1000"
)

// ruled are settings with which agents run these lines unasked.
func ruled(lines ...string) testrig.Options {
	rules := []string{}
	for _, line := range lines {
		rules = append(rules, "run_command("+line+")")
	}
	return testrig.Options{Settings: object{"permissions": object{"allow": rules}}}
}

// TestACommandThatARuleAllowedIsPutBack: what it did, and nothing that you did before. The
// folders are watched all the while.
func TestACommandThatARuleAllowedIsPutBack(t *testing.T) {
	t.Parallel()
	e := spawn(t, ruled(overwrites, "true"))
	e.Write("a.txt", "yours\n")
	e.Write("b.txt", "yours\n")
	for n := range 3 {
		yours := fmt.Sprintf("yours %d\n", n)
		mustCall(t, e, "nothing", "run_command", object{"command": "true"})
		e.Write("a.txt", yours)
		call := fmt.Sprint("call", n)
		mustCall(t, e, call, "run_command", object{"command": overwrites})
		if j := testrig.Wait(t, e.Journal, "journal/changed"); j.Entry.CallID != call || len(j.Files) != 3 {
			t.Errorf("told of %+v", j)
		}
		wantText(t, e, "a.txt", "agent\n")
		r := revert(e, object{"callId": call})
		r.want(t, []string{"new/c.txt", "b.txt", "a.txt"}, []string{}, []string{})
		wantText(t, e, "a.txt", yours)
		wantText(t, e, "b.txt", "yours\n")
		for range 2 { // the revert, and what it reverted
			testrig.Wait(t, e.Journal, "journal/changed")
		}
		if exists(e, "new") {
			t.Error("the folder stays")
		}
	}
	if list := entries(e, object{"callId": "nothing"}); len(list) > 0 {
		t.Errorf("of a command that did nothing it has %v", list)
	}
}

// TestASidecarKilledAmidACommand leaves to the next one what the command did.
func TestASidecarKilledAmidACommand(t *testing.T) {
	t.Parallel()
	o := ruled(waits)
	e := spawn(t, o)
	e.Write("a.txt", "yours\n")
	ended := begin(t.Context(), e, "run_command", object{"command": waits})
	eventually(t, "the command", func() bool { return exists(e, "ready") })
	must(t, e.Command.Process.Kill())
	testrig.Wait(t, ended, "the end of the call")
	e.Stop()
	next := again(t, e, o)
	if list := entries(next, object{}); len(list) > 0 {
		t.Errorf("the journal has %v", list)
	}
	wantText(t, next, "a.txt", "agent\n")
	left, err := os.ReadDir(next.Home + "/.local/state/pillion/journal")
	if slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "copies") }) {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}
