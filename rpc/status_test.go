package rpc

import (
	"testing"

	"pillion/tools"
)

func TestASessionIsIdleOnlyWhenAllItsCallsAre(t *testing.T) {
	var s statuses
	for i, c := range []struct {
		call  string
		state tools.State
		want  string
	}{
		{"one", tools.Running, "executing_tool"},
		{"two", tools.Waiting, "waiting_approval"},
		{"one", tools.Done, "waiting_approval"},
		{"three", tools.Queued, "waiting_approval"},
		{"two", tools.Failed, "executing_tool"},
		{"three", tools.Done, "idle"},
	} {
		if got := s.note(tools.Activity{SessionID: "s", CallID: c.call, State: c.state}); got.Status != c.want {
			t.Errorf("step %d: %s, want %s", i, got.Status, c.want)
		}
	}
	if len(s.calls) != 0 {
		t.Errorf("calls that ended are remembered: %v", s.calls)
	}
}
