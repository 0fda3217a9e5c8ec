package session

import "time"

// Counts are how many calls a session has made, and what became of them.
type Counts struct {
	Calls    int `json:"calls"`
	Changes  int `json:"changes"`  // that changed files
	Rejected int `json:"rejected"` // by the user
	Refused  int `json:"refused"`  // by rules, the mode or Pillion itself
}

// turnPause without a call ends a turn, of agents that do not say when you let them go on.
const turnPause = 3 * time.Minute

// Begin notes that a call begins, and with it a turn when there was none for long. It ends
// no pause.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underway == 0 && s.agent.Via != "gateway" && !s.last.IsZero() && time.Since(s.last) >= turnPause {
		s.turn++
		s.changed(s)
	}
	s.underway++
}

// Count adds a call that began and has ended to what is known of the session.
func (s *Session) Count(c Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Calls += c.Calls
	s.counts.Changes += c.Changes
	s.counts.Rejected += c.Rejected
	s.counts.Refused += c.Refused
	s.last = time.Now()
	s.underway--
	s.changed(s)
}

// Connected notes whether the session's agent is connected.
func (s *Session) Connected(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away == is {
		s.away = !is
		s.changed(s)
	}
}
