package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/tools/approval"
)

func within(d time.Duration) *time.Duration { return &d }

// soon makes a client give up before any dialog is answered: in a bubble, time goes on when
// all wait.
const soon = 10 * time.Second

func write(name string) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: "write_file", Arguments: object{"path": name, "content": "n"}}
}

func waitFor(id string) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: waitTool, Arguments: object{"id": id}}
}

// The clock is short, so what is told to the client is about a dialog that is still open.
func TestALongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project(t, nil)
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: doorOf(p), AnswerWithin: within(soon)}, nil)
		call := func(params *sdk.CallToolParams) result {
			t.Helper()
			return agenttest.Wait(t, a.start(t.Context(), t, params), "the result")
		}
		first := a.start(t.Context(), t, write("n.txt"))
		d := p.Human.Next(t)
		if r := agenttest.Wait(t, first, "the answer in time"); r.isError || !strings.HasSuffix(r.text, "; call wait_for_answer with id w1") {
			t.Fatalf("got %+v", r)
		}
		// Again, and the same call with its arguments in another order: nobody is asked twice.
		again := &sdk.CallToolParams{Name: "write_file", Arguments: rawArguments(`{ "content": "n", "path": "n.txt" }`)}
		for i, params := range []*sdk.CallToolParams{waitFor("w1"), again, waitFor("w1")} {
			if r := call(params); r.isError || !strings.HasSuffix(r.text, "; call wait_for_answer with id w1") {
				t.Errorf("%d: got %+v", i, r)
			}
		}
		call(waitFor("w2")).want(t, "INVALID_ARGUMENTS", "waiting: w1")
		d.Answer(approval.Answer{Decision: approval.Approve})
		var r result
		for r = call(waitFor("w1")); strings.HasPrefix(r.text, "still"); r = call(waitFor("w1")) {
		}
		if r.isError || p.Read(t, "n.txt") != "n" || !strings.Contains(r.text, "n.txt") {
			t.Errorf("got %+v", r)
		}
		call(waitFor("w1")).want(t, "INVALID_ARGUMENTS", "was already returned") // collected again
		call(&sdk.CallToolParams{Name: waitTool, Arguments: object{}}).want(t, "INVALID_ARGUMENTS")
		if len(p.Registry.Approvals.Waiting()) != 0 {
			t.Error("somebody was asked twice")
		}
	})
}

// To give a wait up does not give the call up, nor is that answered.
func TestAWaitThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project(t, nil)
		peer := speaking(t, today, Options{Cwd: p.Dir, Alone: doorOf(p), AnswerWithin: within(soon)})
		peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`)
		d := p.Human.Next(t)
		peer.wantResult("1", "with id w1")
		const wait = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait_for_answer","arguments":{"id":"w1"}}}`
		peer.sendf(wait+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, 2)
		peer.sendf(wait, 3)
		peer.wantResult("3", "with id w1")
		d.Answer(approval.Answer{Decision: approval.Approve})
		p.Human.WantOutcome(t, d, approval.Approved)
		for id := 4; ; id++ {
			peer.sendf(wait, id)
			if l := peer.next(); !strings.Contains(string(l.Result), "with id w1") {
				if !exists(p, "n.txt") || !strings.Contains(string(l.Result), "n.txt") {
					t.Errorf("got %s", l.Result)
				}
				return
			}
		}
	})
}

func rawArguments(text string) any { return rawMessage(text) }

type rawMessage string

func (m rawMessage) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// A result is for who waits for it: the same call later is another one, and is asked about.
func TestTheSameCallLaterIsAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project(t, map[string]string{"a.txt": "one\n"})
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: doorOf(p), AnswerWithin: within(soon)}, nil)
		edit := &sdk.CallToolParams{Name: "edit_file", Arguments: object{"path": "a.txt", "old_string": "one", "new_string": "one, two"}}
		first := a.start(t.Context(), t, edit)
		d := p.Human.Next(t)
		agenttest.Wait(t, first, "the answer in time")
		d.Answer(approval.Answer{Decision: approval.Approve})
		p.Human.WantOutcome(t, d, approval.Approved)
		synctest.Wait()
		must(t, os.WriteFile(filepath.Join(p.Dir, "a.txt"), []byte("one again\n"), 0o600))
		second := a.start(t.Context(), t, edit)
		again := p.Human.Next(t)
		again.Answer(approval.Answer{Decision: approval.Approve})
		if r := agenttest.Wait(t, second, "the result"); r.isError || p.Read(t, "a.txt") != "one, two again\n" {
			t.Errorf("got %+v, and the file holds %q", r, p.Read(t, "a.txt"))
		}
		agenttest.Wait(t, a.start(t.Context(), t, waitFor("w1")), "the first result").want(t, "", "+one, two\n")
	})
}

func TestTheEndOfTheConnectionEndsWhatIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project(t, nil)
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: doorOf(p), AnswerWithin: within(soon)}, nil)
		first := a.start(t.Context(), t, write("n.txt"))
		d := p.Human.Next(t)
		agenttest.Wait(t, first, "the answer in time")
		a.Close()
		p.Human.WantOutcome(t, d, approval.Withdrawn)
	})
}

func TestWhatIsStillThere(t *testing.T) {
	for waits, want := range map[bool]string{
		true:  "still waiting for the user; call wait_for_answer with id w7",
		false: "still running; call wait_for_answer with id w7",
	} {
		check.Has(t, "the result", string((&server{}).stillThere("w7", waits).Bytes()), want)
	}
}

func TestTheAgentLearnsThatTheUserIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project(t, nil)
		release := make(chan struct{})
		defer close(release)
		a := connect(t, "tester", Options{Cwd: p.Dir, Alone: aloneIn(t, p), AnswerWithin: within(soon)}, func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			<-release
			return &sdk.ElicitResult{Action: "decline"}, nil
		})
		if r := agenttest.Wait(t, a.start(t.Context(), t, write("n.txt")), "the answer in time"); !strings.HasPrefix(r.text, "still waiting for the user") {
			t.Errorf("got %+v", r)
		}
	})
}

func TestLimits(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"claude-code": 0, "opencode": 0, "codex-mcp-client": 270 * time.Second, "qwen-cli-mcp-client-pillion": 540 * time.Second,
		"gemini-cli-mcp-client": 540 * time.Second, "somebody": 54 * time.Second,
	} {
		home(t)
		a := connect(t, name, Options{Cwd: t.TempDir()}, nil)
		list, err := a.ListTools(t.Context(), nil)
		must(t, err)
		listed := list.Tools[len(list.Tools)-1].Name == waitTool
		if listed != (want > 0) {
			t.Errorf("%s is offered %s: %v", name, waitTool, listed)
		}
		check.Same(t, name+" is answered after", before(clientOf(name).waits), want)
	}
	for limit, want := range map[time.Duration]time.Duration{2 * time.Second: time.Second, 20 * time.Second: 15 * time.Second} {
		if got := before(limit); got != want {
			t.Errorf("%v before %v, want %v", got, limit, want)
		}
	}
}

func TestResultsThatNobodyCollects(t *testing.T) {
	var s pendingCalls
	for i := range maxKept + 3 {
		s.parked = append(s.parked, &pendingCall{id: fmt.Sprint(i), ended: i != 1})
	}
	s.dropOldResults()
	if len(s.parked) != maxKept+1 || s.parked[0].id != "1" || s.parked[1].id != "3" {
		t.Errorf("%d are kept, first %s and %s", len(s.parked), s.parked[0].id, s.parked[1].id)
	}
}
