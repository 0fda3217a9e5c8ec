package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
)

// What the user types once there is a plan, and before its question is open, nobody is
// told of: the question looks for itself.
func TestWhatIsTypedBetweenAPlanAndItsQuestionIsSeen(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600))
	ws, err := workspace.Open(workspace.Folder{Dir: dir})
	must(t, err)
	path, err := ws.Resolve("a.txt")
	must(t, err)
	r := &Registry{Documents: document.NewStore(ws), Settings: func() Settings { return Settings{Limits: DefaultLimits} }}
	r.Documents.Open(path, path.URI(), 1, "one\ntwo\n")
	p, err := r.prepare(t.Context(), Call{
		Name: "edit_file", Arguments: json.RawMessage(`{"path":"a.txt","old_string":"two","new_string":"2"}`),
		Session: session.New("main", session.Agent{Name: "agent", Via: "mcp"}, policy.Default),
	})
	if err != nil || p.decision.Verdict != policy.Ask {
		t.Fatalf("%+v, %v", p.decision, err)
	}

	r.Documents.Change(path, 2, "typed\none\ntwo\n")
	r.Documents.SetState(path, document.State{Version: 2, Dirty: true})
	select {
	case <-p.Moved():
		t.Fatal("somebody told of it before: this test shows nothing")
	default:
	}
	defer p.watch()()
	select {
	case <-p.Moved():
	default:
		t.Fatal("the question does not look at what was typed before it was open")
	}
	if continuity, err := p.Again(t.Context()); err != nil || continuity != approval.Different {
		t.Errorf("what is asked for is another change now: %v, %v", continuity, err)
	}
	if edits := p.edits(); edits == nil || edits.Set.Files[0].After.Text != "typed\none\n2\n" {
		t.Errorf("%+v", p.plan)
	}
}

// TestALinkThatLeadsOutIsNoFolderThatIsWritten: what git has at such a path can be read.
func TestALinkThatLeadsOutIsNoFolderThatIsWritten(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	ws, err := workspace.Open(workspace.Folder{Dir: dir})
	must(t, err)
	link, err := ws.ResolveEntry("out")
	must(t, err)
	p := &pending{plan: &Action{Reads: []workspace.Path{link}, Tracked: true}}
	if _, err := link.Target(); err == nil || len(p.written()) > 0 {
		t.Errorf("%v, %v", err, p.written())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
