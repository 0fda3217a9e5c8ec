package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/internal/testrig/check"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace/change"
)

func TestAnEditorComesAndGoes(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open}, nil)
	read := func(when string) {
		t.Helper()
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || r.text != "hello\n" {
			t.Errorf("%s: got %+v", when, r)
		}
	}
	read("without an editor")
	if door.count() != 1 || door.opened[0].Name != "tester" {
		t.Fatalf("doors were opened for %+v", door.opened)
	}

	s := editor(t, p)
	read("with an editor")
	if open := p.Sessions.List(); len(open) != 1 {
		t.Fatalf("the editor that was opened later is not found: %+v", open)
	}
	params := write("n.txt")
	params.SetProgressToken("n.txt")
	pending := a.start(t.Context(), t, params)
	d := p.Human.Next(t)
	a.untilItWaits(t, "n.txt")
	must(t, s.Close())
	if r := agenttest.Wait(t, pending, "the result"); r.code() != "APPROVAL_UNAVAILABLE" || !strings.Contains(r.text, "the editor was closed; nothing was done") {
		t.Errorf("the call that ran got %+v", r)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	read("when the editor has gone")
	if door.count() != 1 {
		t.Errorf("%d doors were opened", door.count())
	}

	editor(t, p)
	read("with the next editor")
	if open := p.Sessions.List(); len(open) != 1 {
		t.Errorf("the next editor is not found: %+v", open)
	}
}

// TestASidecarThatComesBack: an editor's sidecar that starts anew is waited for, and nothing is done
// without it meanwhile.
func TestASidecarThatComesBack(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	looked := make(chan bool, 1)
	find := func(cwd string) (sidecar, bool, error) {
		found, ok, err := findSidecar(cwd)
		if !ok {
			select {
			case looked <- true:
			default:
			}
		}
		return found, ok, err
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: find, comeBack: agenttest.Patience}, nil)
	s := editor(t, p)
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError {
		t.Fatalf("%+v", r)
	}
	must(t, s.Close())
	var meanwhile <-chan result
	for waits := false; !waits; {
		meanwhile = a.start(t.Context(), t, &sdk.CallToolParams{Name: "read_file", Arguments: object{"path": "a.txt"}})
		select {
		case <-looked:
			waits = true
		case <-meanwhile: // it has not noticed yet
		}
	}
	editor(t, p)
	if r := agenttest.Wait(t, meanwhile, "the result"); r.isError || door.count() != 0 {
		t.Errorf("%+v, and %d doors were opened", r, door.count())
	}
}

func TestAnEditorThatDoesNotAnswer(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	mute := func(string) (sidecar, bool, error) {
		return sidecar{editor: "VS Code", connect: func(context.Context, relay.Hello) (*relay.Client, error) {
			return nil, errors.New("no answer")
		}}, true, nil
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: mute}, nil)
	a.call(t, "read_file", object{"path": "a.txt"}).want(t, "EXECUTION_FAILED", "reload")
	check.Same(t, "doors behind the editor's back", door.count(), 0)
	if list, err := a.ListTools(t.Context(), nil); err != nil || len(list.Tools) == 0 {
		t.Errorf("the tools are not listed: %v", err)
	}
}

// TestAnEditorThatDies takes a connection and ends it, until the system has closed its
// socket: the call does not pay for that.
func TestAnEditorThatDies(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	door := &alone{dir: p.Dir, t: t}
	looks := 0
	dying := func(string) (sidecar, bool, error) {
		looks++
		return sidecar{editor: "VS Code", connect: func(context.Context, relay.Hello) (*relay.Client, error) {
			return nil, fmt.Errorf("the editor's pillion refused the connection: %w", wire.ErrClosed)
		}}, looks < 3, nil
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: dying}, nil)
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || looks != 3 || door.count() != 1 {
		t.Errorf("after %d looks, %d doors: %+v", looks, door.count(), r)
	}
	for name, c := range map[string]struct {
		err   error
		looks int
	}{
		"hangs up for ever": {wire.ErrClosed, mostLooks},
		"says no":           {errors.New("no"), 1},
	} {
		looks := 0
		refusing := func(string) (sidecar, bool, error) {
			looks++
			return sidecar{connect: func(context.Context, relay.Hello) (*relay.Client, error) { return nil, c.err }}, true, nil
		}
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: door.open, find: refusing}, nil)
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.code() != "EXECUTION_FAILED" || looks != c.looks {
			t.Errorf("%s: after %d looks: %+v", name, looks, r)
		}
	}
}

func TestNoDoorAtAll(t *testing.T) {
	p := project(t, nil)
	for _, open := range map[string]func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error){
		"none": nil,
		"broken": func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error) {
			return nil, errors.New("too bad")
		},
	} {
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: open}, nil)
		a.call(t, "list_files", object{}).want(t, "EXECUTION_FAILED")
	}
}

func TestAsking(t *testing.T) {
	accept := func(content object) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	act := func(action string) func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: action}, nil
		}
	}
	for name, c := range map[string]struct {
		elicit     func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)
		code, text string
	}{
		"approve":         {accept(object{"decision": "approve"}), "", ""},
		"decline":         {act("decline"), "USER_REJECTED", "rejected"},
		"cancel":          {act("cancel"), "APPROVAL_UNAVAILABLE", "closed without an answer"},
		"accept nothing":  {act("accept"), "USER_REJECTED", "rejected"},
		"not one of them": {accept(object{"decision": "approve everything"}), "APPROVAL_UNAVAILABLE", "cannot ask"},
		"an error": {func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return nil, errors.New("broken")
		}, "APPROVAL_UNAVAILABLE", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, nil)
			a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, c.elicit)
			r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
			if r.code() != c.code || !strings.Contains(r.text, c.text) || exists(p, "n.txt") != (c.code == "") {
				t.Errorf("got %+v", r)
			}
			a.call(t, "list_files", object{}).want(t, "") // the next call
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "one\n"})
	asked := make(chan *sdk.ElicitParams, 10)
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, func(_ context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		asked <- q
		decision := q.RequestedSchema.(map[string]any)["properties"].(map[string]any)["decision"].(map[string]any)
		ids := decision["enum"].([]any)
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": ids[len(ids)-1]}}, nil
	})
	edit := func(from, to string) result {
		return a.call(t, "edit_file", object{"path": "a.txt", "old_string": from, "new_string": to})
	}
	if r := edit("one", "t\u202ewo"); r.isError {
		t.Fatalf("got %+v", r)
	}
	q := agenttest.Wait(t, asked, "the question")
	check.Has(t, "the question", q.Message, "a.txt", "-one", `+t\u202ewo`)
	decision := q.RequestedSchema.(map[string]any)["properties"].(map[string]any)["decision"].(map[string]any)
	ids, titles := fmt.Sprint(decision["enum"]), fmt.Sprint(decision["enumNames"])
	if !strings.HasPrefix(ids, "[reject approve") || !strings.Contains(titles, "edit_file") {
		t.Errorf("offered are %s, shown as %s", ids, titles)
	}
	// The last choice was for the session: nobody is asked again.
	if r := edit("t\u202ewo", "three"); r.isError || len(asked) != 0 {
		t.Errorf("got %+v, asked %d more times", r, len(asked))
	}
}

func TestPrompt(t *testing.T) {
	p := project(t, nil)
	answers := make(chan *sdk.ElicitResult, 2)
	answers <- &sdk.ElicitResult{Action: "accept", Content: object{"action": "no"}}
	answers <- &sdk.ElicitResult{Action: "decline"}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, func(_ context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		check.Same(t, "the form", q.Message, "tester asks, in its own words:\n> This change does not fit here.\n> $ ls")
		return <-answers, nil
	})
	for _, want := range []string{"no", "cancel"} {
		r := a.call(t, "prompt_user", object{"message": "This change does not fit here.\n$ ls", "actions": []string{"yes", "no"}})
		if r.isError || !strings.HasSuffix(r.text, want) {
			t.Errorf("want %q, got %+v", want, r)
		}
	}
}

// One question at a time; a cancelled call takes its question along.
func TestOneQuestionAtATime(t *testing.T) {
	p := project(t, nil)
	asked, withdrawn := make(chan string, 10), make(chan struct{}, 10)
	var count atomic.Int32
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p)}, func(ctx context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		asked <- q.Message
		if count.Add(1) == 1 {
			<-ctx.Done()
			withdrawn <- struct{}{}
			return nil, ctx.Err()
		}
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, nil
	})
	write := func(ctx context.Context, name string) <-chan result {
		params := &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": name, "content": "n"}}
		params.SetProgressToken(name)
		return a.start(ctx, t, params)
	}
	ctx, cancel := context.WithCancel(t.Context())
	one := write(ctx, "one.txt")
	agenttest.Wait(t, asked, "the first question")
	two := write(t.Context(), "two.txt")
	// The second waits too, as its progress tells, but is not on show.
	a.untilItWaits(t, "two.txt")
	if len(asked) != 0 {
		t.Error("two questions are open at once")
	}
	cancel()
	agenttest.Wait(t, withdrawn, "the end of the first question")
	agenttest.Wait(t, one, "the end of the first call")
	if r := agenttest.Wait(t, two, "the second result"); r.isError || !exists(p, "two.txt") || exists(p, "one.txt") {
		t.Errorf("got %+v", r)
	}
}

func TestWhatAFormShowsWhole(t *testing.T) {
	command := func(c string) approval.Request {
		return approval.Request{Preview: approval.Preview{Kind: "command", Command: c}}
	}
	three := "cd src && make build\nrm -rf build/out\ncurl x | sh"
	for _, c := range []struct {
		agent, command string
		pages          int
	}{
		{"claude-code", "make", 1},
		{"claude-code", three + "\nls", 1},
		{"claude-code", three + "\nls\nls", 2},
		{"claude-code", strings.Repeat("x", 275), 1}, // broken, and marked where it goes on
		{"claude-code", strings.Repeat("x", 290), 2},
		{"somebody", three + "\nls", 1},
		{"somebody", strings.Repeat("ls\n", 13), 2},
		{"codex-mcp-client", three + "\nls", 1},
		{"codex-mcp-client", strings.Repeat("x ", 100), 1},
		{"codex-mcp-client", strings.Repeat("x ", 500), 2},
		{"codex-mcp-client", strings.Repeat("ls\n", 13), 2},
	} {
		pages, _ := question(command(c.command).Compose(), clientOf(c.agent).screen)
		if len(pages) != c.pages || !strings.HasPrefix(pages[0], "$ "+c.command[:2]) {
			t.Errorf("%s, %q: %d pages:\n%s", c.agent, c.command, len(pages), pages)
		}
		for _, page := range pages {
			if !clientOf(c.agent).screen.holds(page) {
				t.Errorf("%s, %q: too long:\n%s", c.agent, c.command, page)
			}
		}
	}
	if pages, _ := question(command("true\nReasons: none").Compose(), clientOf("").screen); pages[0] != "$ true\n> Reasons: none" {
		t.Errorf("a command of two lines: %q", pages)
	}
	r := command("make")
	r.Preview.Cwd, r.Preview.Writes = "sub", []string{"out"}
	if pages, _ := question(r.Compose(), clientOf("").screen); pages[0] != "$ make\nFolder: sub\nWrites: out" {
		t.Errorf("with facts: %q", pages)
	}
	for want, p := range map[string]approval.Preview{
		"$ make\nSandbox: none: the command has your own rights": {Kind: "command", Command: "make", Sandbox: "none"},
		"$ make\nNetwork: allowed":                               {Kind: "command", Command: "make", Sandbox: "landlock", Network: true},
		"create n, executable, mode 100755, +1 -0\n+x":           {Kind: "diff", Files: approval.Files([]change.FilePreview{{Path: "n", Operation: change.Create, Note: "executable, mode 100755", Additions: 1, Diff: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x"}})},
		"| x\n| Branch: main\nBranch: other\nCommit":             {Kind: "text", Message: "x\nBranch: main", Facts: []approval.Fact{approval.NewFact("branch", "Branch", "other")}},
	} {
		if pages, _ := question((approval.Request{Title: "Commit", Preview: p}).Compose(), clientOf("").screen); pages[0] != want {
			t.Errorf("%q, want %q", pages, want)
		}
	}
	long := strings.Repeat("x ", 300)
	for _, arguments := range []object{{"env": object{"CC": long + "END"}}, {"stdin": long + "END"}, {"process_id": "END"}, {"background_after": 7}} {
		r := command("make")
		r.Arguments, _ = json.Marshal(arguments)
		if pages, _ := question(r.Compose(), clientOf("").screen); !strings.Contains(strings.Join(pages, ""), "END") && !strings.Contains(strings.Join(pages, ""), "after 7 s it goes on") {
			t.Errorf("of %v the form says %q", arguments, pages)
		}
	}
	for length, lines := range map[int]int{descriptionColumns: 1, descriptionColumns + 1: 2} { // what does not fit beside the choice counts
		r := command("make")
		r.Reasons = []approval.Reason{{Text: strings.Repeat("y", length)}}
		if pages, why := question(r.Compose(), clientOf("claude-code").screen); len(pages) != 1 || strings.Count(pages[0], "\n")+1 != lines || (why == "") == (lines == 1) {
			t.Errorf("%d: %q beside %q", length, why, pages)
		}
	}
	check.Same(t, "a long line", clientOf("claude-code").screen.pages("$ " + strings.Repeat("é", 36))[0], "$ "+strings.Repeat("é", 35)+"\n↪ é")
}

func TestTheLinesThatChange(t *testing.T) {
	const head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n"
	for diff, want := range map[string]string{
		head + "@@ -1,3 +1,2 @@\n one\n-two\n-three\n+2\n":                            "-two\n-three\n+2",
		head + "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+1\n":                "-one\n\\ No newline at end of file\n+1",
		head + "@@ -1,4 +1,4 @@\n-one\n+1\n two\n three\n-four\n+4\n":                 "line 1:\n-one\n+1\nline 4:\n-four\n+4",
		head + "@@ -1 +1,2 @@ f()\n-a\n+b\n+c\n@@ -9,3 +10,2 @@ g()\n d\n-e\n f\n":    "line 1:\n-a\n+b\n+c\nline 11:\n-e",
		head + "@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n":          "-a\n+b",
		"diff --git a/a b/a\nold mode 100644\nnew mode 100755\n@@ -1 +1 @@\n-a\n+b\n": "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n@@ -1 +1 @@\n-a\n+b\n",
	} {
		if got := changedLines(diff); got != want {
			t.Errorf("%s\nis shown as\n%s", diff, got)
		}
	}
}

// person answers forms one after the other, and keeps what they said.
type person struct {
	t       testing.TB
	answers chan *sdk.ElicitResult
	shown   chan *sdk.ElicitParams
}

func newPerson(t testing.TB, answers ...*sdk.ElicitResult) *person {
	p := &person{t: t, answers: make(chan *sdk.ElicitResult, 10), shown: make(chan *sdk.ElicitParams, 10)}
	for _, answer := range answers {
		p.answers <- answer
	}
	return p
}

func (p *person) elicit(ctx context.Context, q *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	p.shown <- q
	select {
	case answer := <-p.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next is what the next form says, and the title and the choices of its field.
func (p *person) next(field string) (message, title string, ids []any) {
	p.t.Helper()
	q := agenttest.Wait(p.t, p.shown, "the form")
	is, ok := q.RequestedSchema.(map[string]any)["properties"].(map[string]any)[field].(map[string]any)
	if !ok {
		p.t.Fatalf("the form has no %s: %+v", field, q.RequestedSchema)
	}
	return q.Message, is["title"].(string), is["enum"].([]any)
}

func chose(field, id string) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: object{field: id}}
}

// TestALongRequestComesInParts: the last one decides, any of them can refuse, and a part that
// is closed is no answer.
func TestALongRequestComesInParts(t *testing.T) {
	edit := object{"path": "a.txt", "edits": []object{{"old_string": "one", "new_string": "1"}, {"old_string": "five", "new_string": "5"}}}
	for name, c := range map[string]struct {
		answers []*sdk.ElicitResult
		code    string
		forms   int
	}{
		"approved":            {[]*sdk.ElicitResult{chose("part", "next"), chose("decision", "approve")}, "", 2},
		"rejected at the end": {[]*sdk.ElicitResult{chose("part", "next"), chose("decision", "reject"), {Action: "cancel"}}, "USER_REJECTED", 3},
		"rejected before":     {[]*sdk.ElicitResult{chose("part", "reject"), {Action: "cancel"}}, "USER_REJECTED", 2},
		"declined before":     {[]*sdk.ElicitResult{{Action: "decline"}, {Action: "cancel"}}, "USER_REJECTED", 2},
		"closed before":       {[]*sdk.ElicitResult{{Action: "cancel"}}, "APPROVAL_UNAVAILABLE", 1},
		"answered too early": {[]*sdk.ElicitResult{
			{Action: "accept", Content: object{"part": "reject", "decision": "approve"}}, {Action: "cancel"},
		}, "USER_REJECTED", 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n"})
			human := newPerson(t, c.answers...)
			a := connect(t, "claude-code", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, human.elicit)
			r := a.call(t, "edit_file", edit)
			if r.code() != c.code || len(human.shown) != c.forms {
				t.Errorf("after %d forms: %+v", len(human.shown), r)
			}
			message, title, ids := human.next("part")
			if title != "Part 1 of 2" || ids[0] != "next" || message != "edit a.txt, +2 -2\nline 1:\n-one\n+1" {
				t.Errorf("the first is %q with %v:\n%s", title, ids, message)
			}
			if c.code != "" {
				return
			}
			message, title, ids = human.next("decision")
			if title != "Part 2 of 2: Decision" || ids[0] != "reject" || message != "line 5:\n-five\n+5" {
				t.Errorf("the last is %q with %v:\n%s", title, ids, message)
			}
		})
	}
}

// TestWhatFitsNoFormIsShownElsewhere: the form says where; once somebody watches there, the
// request goes there.
func TestWhatFitsNoFormIsShownElsewhere(t *testing.T) {
	for name, join := range map[string]func(t testing.TB, o Options, p *person) *agent{
		today: func(t testing.TB, o Options, p *person) *agent { return connect(t, "claude-code", o, p.elicit) },
		newProtocol: func(t testing.TB, o Options, p *person) *agent {
			return connectNewest(t.(*testing.T), o, func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return p.elicit(ctx, r.Params)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, nil)
			human := newPerson(t)
			a := join(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, human)
			pending := a.start(t.Context(), t, &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": "n.txt", "content": strings.Repeat("line\n", 100)}})
			if message, _, ids := human.next("then"); message != "This change does not fit here.\nRun `pillion watch` in another terminal, then choose Try again." || ids[0] != "reject" {
				t.Errorf("with %v:\n%s", ids, message)
			}
			human.answers <- chose("then", "again")
			if message, _, _ := human.next("then"); !strings.Contains(strings.ReplaceAll(message, "\n↪ ", ""), "does not run in "+p.Dir) || exists(p, "n.txt") {
				t.Errorf("where nobody watches:\n%s", message)
			}
			watch(t, p)
			human.answers <- chose("then", "again")
			asked := p.Human.Next(t)
			asked.Answer(approval.Answer{Decision: approval.Approve})
			if r := agenttest.Wait(t, pending, "the result"); r.isError || !exists(p, "n.txt") || len(human.shown) != 0 {
				t.Errorf("%d more forms: %+v", len(human.shown), r)
			}
		})
	}
}

func TestWhatFitsNoFormIsRefusedThere(t *testing.T) {
	for name, c := range map[string]struct {
		answer *sdk.ElicitResult
		code   string
	}{
		"rejected": {chose("then", "reject"), "USER_REJECTED"}, "closed": {&sdk.ElicitResult{Action: "cancel"}, "APPROVAL_UNAVAILABLE"},
	} {
		p := project(t, nil)
		human := newPerson(t, c.answer, &sdk.ElicitResult{Action: "cancel"})
		a := connect(t, "claude-code", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, human.elicit)
		if r := a.call(t, "write_file", object{"path": "n.txt", "content": strings.Repeat("line\n", 100)}); r.code() != c.code || exists(p, "n.txt") {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// unhurried is a clock on which everybody takes a second for everything.
func unhurried() func() time.Time {
	var ticks atomic.Int64
	return func() time.Time { return time.Unix(ticks.Add(1), 0) }
}

func TestADeclineThatNobodyCouldHaveRead(t *testing.T) {
	for _, action := range []string{"decline", "cancel"} {
		p := project(t, nil)
		asked := 0
		now := time.Now()
		o := Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: func() time.Time { return now }}
		a := connect(t, "tester", o, func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			asked++
			return &sdk.ElicitResult{Action: action}, nil
		})
		r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
		if r.code() != "APPROVAL_UNAVAILABLE" || !strings.Contains(r.text, "nobody could be asked") || !strings.Contains(r.text, "pillion watch") || asked != 1 {
			t.Errorf("%s: asked %d times, got %+v", action, asked, r)
		}
	}
}

func TestTheReasonOfARefusal(t *testing.T) {
	p := project(t, nil)
	answers := []*sdk.ElicitResult{
		{Action: "accept", Content: object{"decision": "reject"}},
		{Action: "accept", Content: object{"reason": "not now"}},
		{Action: "accept", Content: object{"decision": "reject"}},
		{Action: "cancel"},
	}
	a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		next := answers[0]
		answers = answers[1:]
		return next, nil
	})
	for _, reason := range []bool{true, false} {
		r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
		if r.code() != "USER_REJECTED" || strings.Contains(r.text, "not now") != reason {
			t.Errorf("reason %v: got %+v", reason, r)
		}
	}
}

func TestNamesArePeoples(t *testing.T) {
	for _, c := range []struct{ client, title, want string }{
		{"qwen-cli-mcp-client-pillion", "", "Qwen Code"},
		{"codex-mcp-client", "Codex CLI", "Codex"},
		{"gemini-cli-mcp-client-pillion", "", "Gemini CLI"},
		{"claude-code", "", "Claude Code"},
		{"opencode", "", "opencode"},
		{"scripted-agent", "", "scripted-agent"},
		{"acme-agent", "Acme", "Acme"},
	} {
		check.Same(t, c.client, personName(&sdk.Implementation{Name: c.client, Title: c.title}), c.want)
	}
}
