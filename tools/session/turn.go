package session

import (
	"strings"
	"time"

	"pillion/internal/fault"
)

// NewTurn begins the next turn, ends a pause, and gives the turn's number.
func (s *Session) NewTurn() (turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextTurn()
	if s.paused {
		s.paused, s.reason, s.pausing = false, "", make(chan struct{})
	}
	return s.turn
}

// nextTurn needs the lock.
func (s *Session) nextTurn() {
	s.turn++
	s.called, s.prompt = false, ""
	if len(s.forTurn) > 0 {
		s.forTurn = nil
		s.judged++
	}
	s.changed(s)
}

// Turn is the number of the current turn; the first is 1.
func (s *Session) Turn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// Prompted notes that the user wrote to the agent, which begins a turn unless nothing was
// called in this one yet. It ends no pause: the agent's side says so.
func (s *Session) Prompted(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.called {
		s.nextTurn()
	}
	s.prompt = fault.Line(FirstWords(text))
}

// Prompt is how what the user wrote begins that this turn came of, if it is the current one.
func (s *Session) Prompt(turn int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if turn != s.turn {
		return ""
	}
	return s.prompt
}

const firstWords = 60 // letters

// FirstWords is as much of what the user wrote as names a turn.
func FirstWords(text string) string {
	letters := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "))
	if len(letters) > firstWords {
		return strings.TrimRight(string(letters[:firstWords-1]), " ") + "…"
	}
	return string(letters)
}

// turnPause without a call ends a turn that no prompt began.
const turnPause = 3 * time.Minute

// Begin notes that a call begins, and with it a turn when there was none for long. It ends
// no pause.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underway == 0 && s.prompt == "" && s.agent.Via != byGateway && !s.last.IsZero() && time.Since(s.last) >= turnPause {
		s.nextTurn()
	}
	s.called = true
	s.underway++
}
