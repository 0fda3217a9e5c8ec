package rpc

import (
	"cmp"
	"slices"
	"sync"

	"pillion/tools"
)

// agentStatus is agent/status.
type agentStatus struct {
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
	Message   string `json:"message"`
}

// statuses knows the calls that are under way, so that a session counts as idle
// only when none of its calls is.
type statuses struct {
	mu    sync.Mutex // guards calls
	calls map[string]map[string]tools.Activity
}

// note takes a call's new state and gives that of its session: what needs the
// user most comes first.
func (s *statuses) note(a tools.Activity) agentStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]map[string]tools.Activity{}
	}
	calls := s.calls[a.SessionID]
	if calls == nil {
		calls = map[string]tools.Activity{}
		s.calls[a.SessionID] = calls
	}
	calls[a.CallID] = a
	if a.State == tools.Done || a.State == tools.Failed {
		delete(calls, a.CallID)
	}
	if len(calls) == 0 {
		delete(s.calls, a.SessionID)
		return agentStatus{a.SessionID, "idle", a.Title}
	}
	out := agentStatus{a.SessionID, "executing_tool", ""}
	for _, call := range calls {
		switch {
		case call.State == tools.Waiting:
			return agentStatus{a.SessionID, "waiting_approval", call.Title}
		case out.Message == "" || call.Title < out.Message: // the same whatever order the map has
			out.Message = call.Title
		}
	}
	return out
}

// underWay lists the calls that are, those of one session together.
func (s *statuses) underWay() []tools.Activity {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []tools.Activity
	for _, calls := range s.calls {
		for _, call := range calls {
			out = append(out, call)
		}
	}
	slices.SortFunc(out, func(a, b tools.Activity) int {
		return cmp.Or(cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Title, b.Title), cmp.Compare(a.CallID, b.CallID))
	})
	return out
}
