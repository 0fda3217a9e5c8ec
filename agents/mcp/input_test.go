package mcp

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/tools/approval"
)

// connectNewest is an agent of the revision that has no handshake, and lets a server ask
// nothing but by the result of a call.
func connectNewest(t *testing.T, o Options, elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)) *agent {
	t.Helper()
	in, out := serve(t, o)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "0.1"}, &sdk.ClientOptions{ElicitationHandler: elicit})
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: newProtocol})
	must(t, err)
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != newProtocol {
		t.Fatalf("%s is spoken", got)
	}
	return &agent{ClientSession: session}
}

func TestTheNewestRevisionWithAnEditor(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	editor(t, p)
	a := connectNewest(t, Options{Cwd: p.Dir}, nil)
	if list, err := a.ListTools(t.Context(), nil); err != nil || len(list.Tools) < 30 {
		t.Errorf("the tools are not listed: %v", err)
	}
	if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || r.text != "hello\n" {
		t.Errorf("got %+v", r)
	}
	pending := a.start(t.Context(), t, write("n.txt"))
	p.Human.Next(t).Answer(approval.Answer{Decision: approval.Approve})
	if r := agenttest.Wait(t, pending, "the result"); r.isError || p.Read(t, "n.txt") != "n" {
		t.Errorf("got %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pending = a.start(ctx, t, write("m.txt"))
	d := p.Human.Next(t)
	cancel()
	agenttest.Wait(t, pending, "the end of the call")
	p.Human.WantOutcome(t, d, approval.Withdrawn)
}

func TestTheNewestRevisionAsks(t *testing.T) {
	for name, c := range map[string]struct {
		action, code string
		elicit       bool
	}{
		"approved": {"accept", "", true}, "declined": {"decline", "USER_REJECTED", true}, "nobody can be asked": {"", "APPROVAL_UNAVAILABLE", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, nil)
			asked := make(chan string, 10)
			var elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)
			if c.elicit {
				elicit = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked <- r.Params.Message
					return &sdk.ElicitResult{Action: c.action, Content: object{"decision": "approve"}}, nil
				}
			}
			a := connectNewest(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p), now: unhurried()}, elicit)
			r := a.call(t, "write_file", object{"path": "n.txt", "content": "n"})
			if r.code() != c.code || r.err != nil || exists(p, "n.txt") != (c.code == "") {
				t.Errorf("got %+v", r)
			}
			if len(asked) > 2 || c.elicit && !strings.Contains(agenttest.Wait(t, asked, "the question"), "n.txt") {
				t.Errorf("asked %d times", len(asked))
			}
			a.call(t, "list_files", object{}).want(t, "") // afterwards
		})
	}
}

const newest = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// What a client sends back counts for the call that asked, once.
func TestTheAnswerToAnInputRequiredResult(t *testing.T) {
	p := project(t, nil)
	peer := newWirePeer(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p)})
	call := func(id, file, more string) string {
		peer.sendf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"write_file","arguments":{"path":%q,"content":"n"},%s%s}}`, id, file, newest, more)
		return string(peer.raw())
	}
	const yes = `,"requestState":"w1","inputResponses":{"question-1":{"action":"accept","content":{"decision":"approve"}}}`
	check.Has(t, "an answer that nobody waits for", call("1", "n.txt", yes), "INVALID_ARGUMENTS")
	for _, id := range []string{"2", "3"} { // the client lost the question: it is asked again
		if got := call(id, "n.txt", ""); !strings.Contains(got, `"resultType":"input_required"`) || !strings.Contains(got, `"elicitation/create"`) || !strings.Contains(got, `"requestState":"w1"`) {
			t.Fatalf("got %s", got)
		}
	}
	check.Has(t, "an answer for another call", call("4", "other.txt", yes), "INVALID_ARGUMENTS")
	if got := call("7", "n.txt", strings.Replace(yes, "question-1", "question-0", 1)); !strings.Contains(got, `"input_required"`) || exists(p, "n.txt") {
		t.Errorf("an answer to another question gave %s", got)
	}
	if got := call("5", "n.txt", yes); !strings.Contains(got, `"resultType":"complete"`) || !exists(p, "n.txt") {
		t.Errorf("got %s", got)
	}
	check.Has(t, "the same answer once more", call("6", "n.txt", yes), "INVALID_ARGUMENTS")
}
