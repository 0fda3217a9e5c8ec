package test

import (
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestApprovedForTheTurn: edits and a command run until the turn ends; what mode auto_edit would ask about asks.
func TestApprovedForTheTurn(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	for _, args := range []struct {
		tool         string
		first, later object
	}{
		{"write_file", object{"path": "a.txt", "content": "a\n"}, object{"path": "b.txt", "content": "b\n"}},
		{"run_command", object{"command": "python3 --help -c"}, object{"command": "python3 --help -c"}},
	} {
		a, done := e.Ask(args.tool, args.first)
		a.Answer <- object{"decision": "approve", "decisionId": "turn", "digest": a.Text("digest")}
		check.Same(t, "the first is an error", testrig.Wait(t, done, args.tool).IsError, false)
		wantDecision(t, e, args.tool, args.later, "run")
		wantDecision(t, e, "write_file", object{"path": ".envrc", "content": "x\n"}, "ask")
		e.Must("session/newTurn", object{}, nil)
		wantDecision(t, e, args.tool, args.later, "ask")
	}
}

// TestCommentsReachTheAgent with a rejection, each with its place.
func TestCommentsReachTheAgent(t *testing.T) {
	t.Parallel()
	e := spawnWithApp(t, testrig.Options{})
	comments := []object{{"path": "app.py", "line": 2, "text": "two digits\nplease"}, {"path": "app.py", "line": 7, "text": "why?"}}
	for _, c := range []struct {
		answer object
		said   string
	}{
		{object{"decision": "reject", "comments": comments}, "app.py:2: two digits\n  please\napp.py:7: why?"},
		{object{"decision": "reject", "feedback": "not so", "comments": comments[1:]}, "not so\napp.py:7: why?"},
	} {
		a, done := e.Ask("edit_file", edit)
		r := answered(t, a, done, c.answer)
		check.Has(t, "what the agent reads", r.Text(), "USER_REJECTED: the user rejected this: "+c.said)
	}
	wantText(t, e, "app.py", app)
}
