package session

import "time"

// Counts are how many calls a session has made, and what became of them.
type Counts struct {
	Calls    int `json:"calls"`
	Changes  int `json:"changes"`  // that changed files
	Rejected int `json:"rejected"` // by the user
	Refused  int `json:"refused"`  // by rules, the mode or Pillion itself
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
