package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/internal/testrig/check"
	"pillion/tools/approval"
)

func watch(t testing.TB, p *agenttest.Project) *relay.Server {
	t.Helper()
	return host(t, p, p.Dir, relay.Host{Editor: "`pillion watch`", Kind: relay.KindWatch})
}

// twin is another sidecar on the project's folder.
func twin(t testing.TB, p *agenttest.Project) *agenttest.Project {
	t.Helper()
	other := agenttest.NewProject(t, nil)
	human := agenttest.NewHuman()
	return &agenttest.Project{Dir: p.Dir, Human: human, Sessions: other.Sessions, Registry: agenttest.NewRegistry(t, p.Dir, human, human)}
}

// TestAnEditorTakesOverFromAWatch: what the watch was asked is answered there, once;
// the next call is the editor's, and the watch's again when the editor has closed.
func TestAnEditorTakesOverFromAWatch(t *testing.T) {
	atWatch := project(t, map[string]string{"a.txt": "hello\n"})
	atEditor := twin(t, atWatch)
	watch(t, atWatch)
	door := &alone{dir: atWatch.Dir, t: t}
	a := connect(t, "tester", Options{Cwd: atWatch.Dir, Alone: door.open}, nil)
	parked := a.start(t.Context(), t, write("n.txt"))
	d := atWatch.Human.Next(t)

	s := editor(t, atEditor)
	second := a.start(t.Context(), t, &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": "m.txt", "content": "m"}})
	atEditor.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, second, "the editor's result"); r.isError || !exists(atWatch, "m.txt") {
		t.Errorf("through the editor: %+v", r)
	}
	if exists(atWatch, "n.txt") {
		t.Error("what the watch asked was done without its answer")
	}
	d.Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, parked, "the watch's result"); r.isError || !exists(atWatch, "n.txt") {
		t.Errorf("through the watch: %+v", r)
	}

	again := &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": "m.txt", "content": "again"}}
	lost := a.start(t.Context(), t, again)
	atEditor.Human.Next(t)
	must(t, s.Close())
	check.Has(t, "when the editor closed", agenttest.Wait(t, lost, "the end of the editor").text, "the editor was closed")
	back := a.start(t.Context(), t, again)
	atWatch.Human.Next(t).Answer(approval.Answer{Decision: approval.Reject, Feedback: "once is enough"})
	check.Has(t, "after the editor", agenttest.Wait(t, back, "the result after the editor").text, "once is enough")
	if open := atWatch.Sessions.List(); len(open) != 1 || door.count() != 0 {
		t.Errorf("at the watch are %+v, and alone was opened %d times", open, door.count())
	}
}

// TestOfTwoWatchesOneAsks: an agent stays with the watch that it came to, until that closes.
func TestOfTwoWatchesOneAsks(t *testing.T) {
	first := project(t, map[string]string{"a.txt": "hello\n"})
	second := twin(t, first)
	s := watch(t, first)
	a := connect(t, "tester", Options{Cwd: first.Dir}, nil)
	parked := a.start(t.Context(), t, write("n.txt"))
	d := first.Human.Next(t)
	watch(t, second)
	next := a.start(t.Context(), t, write("n.txt"))
	if r := first.Human.Next(t); r.Title == "" {
		t.Error("the second question shows nothing")
	}
	d.Answer(approval.Answer{Decision: approval.Reject})
	agenttest.Wait(t, parked, "the first result").want(t, "USER_REJECTED") // the first
	must(t, s.Close())
	check.Has(t, "the second", agenttest.Wait(t, next, "the result of a watch that closes").text, "`pillion watch` was closed")
	last := a.start(t.Context(), t, write("n.txt"))
	second.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, last, "the last result"); r.isError || !exists(first, "n.txt") {
		t.Errorf("the last: %+v", r)
	}
}

// TestAWatchOpensWhileAnAgentServesItself: the next call is asked about there.
func TestAWatchOpensWhileAnAgentServesItself(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, nil)
	if r := a.call(t, "write_file", write("n.txt").Arguments); r.code() != "APPROVAL_UNAVAILABLE" || !strings.Contains(r.text, openAnEditor) || exists(p, "n.txt") {
		t.Errorf("without anybody to ask: %+v", r)
	}
	a.call(t, "prompt_user", object{"message": "well?", "actions": []string{"yes"}}).want(t, "APPROVAL_UNAVAILABLE") // a question
	watch(t, p)
	pending := a.start(t.Context(), t, write("n.txt"))
	p.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, pending, "the result"); r.isError || !exists(p, "n.txt") {
		t.Errorf("with a watch: %+v", r)
	}
}
