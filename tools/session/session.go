// Package session holds one agent's conversation: who the agent is, its mode and
// turn, which versions of files it saw, and what the user granted it.
//
// A Set has the open sessions; Set.Open is the entry point, and Set.Admit that of agents on
// the agents' socket. Everything is in memory and safe for concurrent use; what outlives the
// program (Kept) goes to a Keeper. Deliberately not here: where a Keeper has it, what a mode
// or a grant means (that is policy), waiting approvals, and the calls themselves. A session
// decides nothing; it remembers.
package session

import (
	"maps"
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
	owner   Owner
	lasts   bool // it has a place where it is kept
	agent   Agent
	rate    *rate
	texts   *Texts   // shared by the sessions of a Set
	parent  *Session // nil: nobody's child
	closed  chan struct{}
	changed func(*Session) // has followers hear of it; it may be called with mu held

	keeping sync.Mutex // guards slot, and the order in which it is saved to
	slot    Slot       // nil: nothing is kept

	mu       sync.Mutex       // guards what follows
	texted   map[textKey]bool // the texts that this session remembered
	pieces   *atomic.Int64    // bytes of all arrivals, shared by the sessions of a Set
	arrivals map[string]*arrival
	started  time.Time
	mode     policy.Mode
	standard policy.Mode // the settings' default mode
	chosen   bool        // the mode was, by the user or the agent's editor: no default any more
	dialect  string
	offered  []string // nil: every tool
	turn     int
	called   bool   // in this turn
	prompt   string // what the user wrote that began it, its first words; "": that is not known
	underway int    // calls that began and have not ended
	paused   bool
	reason   string              // why it is paused
	pausing  chan struct{}       // closed by Pause
	seen     map[string]sighting // by path, as last read or written
	grants   []policy.Rule
	forTurn  []policy.Rule     // likewise, until the turn ends
	once     map[string]string // keys of questions that one yes answers for the session, with what file a yes is about
	judged   int               // how often what a call is judged by was tightened
	todos    []Todo
	revision int    // of todos
	known    []Todo // what the agent knows of todos, once the user has changed them
	unaware  bool   // the user has changed todos, and the agent does not know
	counts   Counts
	later    []string  // see Later
	last     time.Time // of the last call's end
	away     bool      // nobody is connected
	vacant   bool      // it was looked up for the user, and waits for its agent
	ended    bool      // the user ended it
	secret   string    // the hash of what its agent proves itself by
	context  []ContextFile
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
		changed:  func(*Session) {},
		pausing:  make(chan struct{}),
		mode:     mode,
		standard: mode,
		turn:     1,
		seen:     map[string]sighting{},
		pieces:   new(atomic.Int64),
		arrivals: map[string]*arrival{},
		texted:   map[textKey]bool{},
		once:     map[string]string{},
	}
}

// ID is the session's id on every wire.
func (s *Session) ID() string { return s.id }

// Editors is the id of the session of calls that the editor makes by itself, for the user.
const Editors = "editor"

// IsEditors says that it is that session.
func (s *Session) IsEditors() bool { return s.id == Editors && s.agent.Via == "editor" }

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
	if mode.Stricter(s.mode) {
		s.judged++
	}
	s.mode, s.chosen = mode, true
	s.changed(s)
	return nil
}

// tighten takes over a default mode that leaves less room than the one that the
// session began with, unless its mode was chosen.
func (s *Session) tighten(mode policy.Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standard = mode
	if !s.chosen && mode.Stricter(s.mode) {
		s.mode = mode
		s.changed(s)
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
		s.changed(s)
	}
}

// GrantForTurn remembers a rule until the turn ends.
func (s *Session) GrantForTurn(r policy.Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.forTurn, r) {
		s.forTurn = append(s.forTurn, r)
		s.changed(s)
	}
}

// Revoke takes a remembered rule back, or a yes that holds for the session, by its text as
// in Info, and says whether there was one.
func (s *Session) Revoke(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.granted())
	is := func(r policy.Rule) bool { return r.String() == text }
	s.grants, s.forTurn = slices.DeleteFunc(slices.Clone(s.grants), is), slices.DeleteFunc(slices.Clone(s.forTurn), is)
	delete(s.once, text)
	if len(s.granted()) == before {
		return false
	}
	s.judged++
	s.changed(s)
	return true
}

// DropGrants takes all of them back.
func (s *Session) DropGrants() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.granted()) > 0 {
		s.grants, s.forTurn = nil, nil
		clear(s.once)
		s.judged++
		s.changed(s)
	}
}

// Judged changes when a call of this session may be judged more strictly than before.
func (s *Session) Judged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judged
}

// granted needs the lock.
func (s *Session) granted() []string {
	out := make([]string, 0, len(s.grants)+len(s.once))
	for _, r := range slices.Concat(s.grants, s.forTurn) {
		out = append(out, r.String())
	}
	return append(out, slices.Sorted(maps.Keys(s.once))...)
}

// Grants lists the remembered rules in the order they were given.
func (s *Session) Grants() []policy.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.grants, s.forTurn)
}

// GrantOnce remembers the yes to the keys of a policy.Decision's OncePerSession.
func (s *Session) GrantOnce(keys ...string) { s.GrantOnceFor(nil, keys...) }

// GrantOnceFor is that for the files that the keys are about now, by their identities.
func (s *Session) GrantOnceFor(files map[string]string, keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.once)
	for _, key := range keys {
		s.once[key] = files[key]
	}
	if len(s.once) > before {
		s.changed(s)
	}
}

// GrantedOnce are the keys that were answered with yes, with the identities of files that they were about.
func (s *Session) GrantedOnce() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.once)
}

// Pause stops the session until its next turn: the user cancelled, and the
// agent's protocol has no way to be told. The first reason stays.
func (s *Session) Pause(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.paused {
		s.paused, s.reason = true, reason
		close(s.pausing)
		s.changed(s)
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
	Connected   bool        `json:"connected"` // its agent is
	LastCall    time.Time   `json:"lastCall,omitzero"`
	Counts
	Grants        []string `json:"grants"` // the remembered rules, and the files and hosts that a yes holds for
	Todos         []Todo   `json:"todos"`  // without what agents of other tool sets add
	TodosRevision int      `json:"todosRevision"`
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
	info := Info{
		SessionID:     s.id,
		Parent:        parent,
		Agent:         s.agent,
		Mode:          mode,
		Dialect:       s.dialect,
		Turn:          s.turn,
		Paused:        paused,
		PauseReason:   reason,
		Started:       s.started.UTC(),
		Connected:     !s.away,
		LastCall:      s.last.UTC(),
		Counts:        s.counts,
		Grants:        s.granted(),
		Todos:         append([]Todo{}, s.todos...),
		TodosRevision: s.revision,
	}
	if s.last.IsZero() {
		info.LastCall = time.Time{}
	}
	for i := range info.Todos {
		info.Todos[i].Extra = nil
	}
	return info
}

// mostLater bounds what an agent that makes no more calls is to be told.
const mostLater = 10

// Later keeps what the agent is to be told with its next result; of too much the newest.
func (s *Session) Later(news []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = append(s.later, news...)
	s.later = s.later[max(0, len(s.later)-mostLater):]
}

// TakeLater is that, once.
func (s *Session) TakeLater() (news []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, s.later = s.later, nil
	return news
}
