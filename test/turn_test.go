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
