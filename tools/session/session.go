// Package session holds one agent's conversation: who the agent is, its mode and
// turn, which versions of files it saw, and what the user granted it.
//
// A Set keeps the open sessions; Set.Open is the entry point. Everything is in
// memory and safe for concurrent use. Deliberately not here: what a mode or a
// grant means (that is policy), waiting approvals, and the calls themselves. A
// session decides nothing; it remembers.
package session

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/tools/policy"
)

// Agent is who a session belongs to.
type Agent struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Via     string `json:"via,omitempty"` // "editor", "mcp", "terminal", "chat", "gateway" or "task"
}

// Session is one agent's conversation.
type Session struct {
	id      string
	agent   Agent
	started time.Time
	rate    *rate
	texts   *Texts   // shared by the sessions of a Set
	parent  *Session // nil: nobody's child
	closed  chan struct{}

	mu       sync.Mutex       // guards what follows
	texted   map[textKey]bool // the texts that this session remembered
	pieces   *atomic.Int64    // bytes of all arrivals, shared by the sessions of a Set
	arrivals map[string]*arrival
	mode     policy.Mode
	chosen   bool // the mode was, by the user or the agent's editor: no default any more
	dialect  string
	offered  []string // nil: every tool
	turn     int
	paused   bool
	reason   string              // why it is paused
	pausing  chan struct{}       // closed by Pause
	seen     map[string]sighting // by path, as last read or written
	grants   []policy.Rule
	once     map[string]bool // keys of questions that one yes answers for the session
	todos    []Todo
}

// New makes a session in its first turn.
func New(id string, agent Agent, mode policy.Mode) *Session {
	return &Session{
		id:       id,
		agent:    agent,
		started:  time.Now(),
		rate:     newRate(DefaultLimits),
		texts:    NewTexts(MaxTexts),
		closed:   make(chan struct{}),
		pausing:  make(chan struct{}),
		mode:     mode,
		turn:     1,
		seen:     map[string]sighting{},
		pieces:   new(atomic.Int64),
		arrivals: map[string]*arrival{},
		texted:   map[textKey]bool{},
		once:     map[string]bool{},
	}
}

// ID is the session's id on every wire.
func (s *Session) ID() string { return s.id }

// Agent is who opened the session.
func (s *Session) Agent() Agent { return s.agent }

// Closed is closed when the session's Set forgets it: what belongs to it ends then.
func (s *Session) Closed() <-chan struct{} { return s.closed }

// Mode is how freely the agent may work now: a child never more freely than its parent.
func (s *Session) Mode() policy.Mode {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	if s.parent != nil {
		return s.parent.Mode().Tighter(mode)
	}
	return mode
}

// SetMode changes the mode of the calls that are decided from now on.
func (s *Session) SetMode(mode policy.Mode) error {
	mode, err := policy.ParseMode(string(mode))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.chosen = mode, true
	return nil
}

// tighten takes over a default mode that leaves less room than the one that the
// session began with, unless its mode was chosen.
func (s *Session) tighten(mode policy.Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.chosen && mode.Stricter(s.mode) {
		s.mode = mode
	}
}

// Dialect names the tool dialect that the agent speaks; empty is the canonical one.
func (s *Session) Dialect() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialect
}

// SetDialect records the agent's dialect; which ones exist is not known here.
func (s *Session) SetDialect(dialect string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialect = dialect
}

// Offer limits the session to these tools, by the names of the contract; nil is no limit.
func (s *Session) Offer(tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tools != nil {
		s.offered = tools
	}
}

// Offered are the tools that the session is limited to, if it is.
func (s *Session) Offered() (tools []string, limited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered, s.offered != nil
}

// Grant remembers a rule that the user approved for this session.
func (s *Session) Grant(r policy.Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.grants, r) {
		s.grants = append(s.grants, r)
	}
}

// Grants lists the remembered rules in the order they were given.
func (s *Session) Grants() []policy.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants)
}

// GrantOnce remembers the yes to a policy.Decision's OncePerSession key.
func (s *Session) GrantOnce(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once[key] = true
}

// GrantedOnce says whether that key was answered with yes. The empty key never is.
func (s *Session) GrantedOnce(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return key != "" && s.once[key]
}

// Pause stops the session until its next turn: the user cancelled, and the
// agent's protocol has no way to be told. The first reason stays.
func (s *Session) Pause(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.paused {
		s.paused, s.reason = true, reason
		close(s.pausing)
	}
}

// Paused says whether and why the session is paused. A child is while its parent is.
func (s *Session) Paused() (reason string, paused bool) {
	s.mu.Lock()
	reason, paused = s.reason, s.paused
	s.mu.Unlock()
	if !paused && s.parent != nil {
		return s.parent.Paused()
	}
	return reason, paused
}

// Pausing is closed when the session itself is paused, or is paused already.
func (s *Session) Pausing() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pausing
}

// NewTurn begins the next turn, ends a pause, and gives the turn's number.
func (s *Session) NewTurn() (turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	if s.paused {
		s.paused, s.reason, s.pausing = false, "", make(chan struct{})
	}
	return s.turn
}

// Turn is the number of the current turn; the first is 1.
func (s *Session) Turn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// Info is a session as the wire shows it.
type Info struct {
	SessionID   string      `json:"sessionId"`
	Parent      string      `json:"parent,omitempty"` // the session whose child it is
	Agent       Agent       `json:"agent"`
	Mode        policy.Mode `json:"mode"`
	Dialect     string      `json:"dialect,omitempty"`
	Turn        int         `json:"turn"`
	Paused      bool        `json:"paused"`
	PauseReason string      `json:"pauseReason,omitempty"`
	Started     time.Time   `json:"started"`
}

// Info describes the session at this moment.
func (s *Session) Info() Info {
	mode := s.Mode()
	reason, paused := s.Paused()
	parent := ""
	if s.parent != nil {
		parent = s.parent.id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Info{
		SessionID:   s.id,
		Parent:      parent,
		Agent:       s.agent,
		Mode:        mode,
		Dialect:     s.dialect,
		Turn:        s.turn,
		Paused:      paused,
		PauseReason: reason,
		Started:     s.started.UTC(),
	}
}
