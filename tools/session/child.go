package session

import (
	"pillion/internal/fault"
	"pillion/tools/policy"
)

// maxDepth is how many sessions can stand above one: an agent that starts agents that
// start agents has an end.
const maxDepth = 3

// OpenChild opens a session for an agent that the agent of parent started. It works in
// mode, empty for its parent's, and never more freely than the parent does at that
// moment; it is paused while the parent is, counts its calls with it, and ends with it.
func (s *Set) OpenChild(parent *Session, agent Agent, mode policy.Mode) (*Session, error) {
	depth := 1
	for above := parent.parent; above != nil; above = above.parent {
		depth++
	}
	if depth > maxDepth {
		return nil, fault.New(fault.PolicyDenied, "agents are nested %d deep already", maxDepth).WithHint("do the work yourself")
	}
	if mode == "" {
		mode = policy.FullAccess // the parent's is tighter
	}
	child := New(NewID(), agent, mode)
	child.parent, child.chosen, child.rate = parent, true, parent.rate
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.index(parent.id) < 0 || s.open[s.index(parent.id)] != parent:
		return nil, fault.New(fault.Cancelled, "the session has ended")
	case len(s.open) >= maxOpen:
		return nil, fault.New(fault.RateLimited, "%d sessions are already open: close one", len(s.open))
	}
	s.addLocked(child)
	return child, nil
}

// Parent is the session whose child it is, nil if it is nobody's.
func (s *Session) Parent() *Session { return s.parent }

// within says that the session is other, or below it.
func (s *Session) within(other *Session) bool {
	for ; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}
