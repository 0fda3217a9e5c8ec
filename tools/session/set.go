package session

import (
	"slices"
	"sync"
	"sync/atomic"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// maxOpen bounds the memory that unknown session ids can take: a call with one
// opens a session.
const maxOpen = 1000

// Set is the open sessions.
type Set struct {
	texts  *Texts
	pieces *atomic.Int64

	mu          sync.Mutex // guards what follows
	defaultMode policy.Mode
	limits      Limits
	open        []*Session // in the order they were opened
}

// NewSet makes an empty set whose sessions start in defaultMode.
func NewSet(defaultMode policy.Mode) *Set {
	return &Set{texts: NewTexts(MaxTexts), pieces: new(atomic.Int64), defaultMode: defaultMode, limits: DefaultLimits}
}

// SetDefaults changes how sessions start that are opened from now on. Those that are
// open take the limits over, and a mode that is stricter than the default that they
// began with: what tightens holds at once.
func (s *Set) SetDefaults(mode policy.Mode, limits Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.defaultMode, s.limits = mode, limits
	for _, one := range s.open {
		one.SetLimits(limits)
		one.tighten(mode)
	}
}

// Open gives the session of that id and says whether it is new. An empty id makes
// one up, an empty mode is the default one. Opening again changes nothing.
func (s *Set) Open(id string, agent Agent, mode policy.Mode) (_ *Session, created bool, _ error) {
	if id == "" {
		id = NewID()
	}
	if err := CheckID(id); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chosen := mode != ""
	if !chosen {
		mode = s.defaultMode
	}
	if _, err := policy.ParseMode(string(mode)); err != nil {
		return nil, false, err
	}
	if at := s.index(id); at >= 0 {
		return s.open[at], false, nil
	}
	if len(s.open) >= maxOpen {
		return nil, false, fault.New(fault.RateLimited,
			"%d sessions are already open: close one, or use the id of an open one", len(s.open))
	}
	opened := New(id, agent, mode)
	opened.SetLimits(s.limits)
	opened.chosen = chosen
	s.addLocked(opened)
	return opened, true, nil
}

// addLocked needs s.mu.
func (s *Set) addLocked(opened *Session) {
	opened.texts, opened.pieces = s.texts, s.pieces
	s.open = append(s.open, opened)
}

// Get gives an open session.
func (s *Set) Get(id string) (*Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.index(id); at >= 0 {
		return s.open[at], true
	}
	return nil, false
}

// Close forgets a session with its children and says whether it was open. Whoever waits
// for its Closed ends what belongs to it; its calls go on.
func (s *Set) Close(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.index(id)
	if at < 0 {
		return false
	}
	ended := s.open[at]
	s.open = slices.DeleteFunc(s.open, func(one *Session) bool {
		if !one.within(ended) {
			return false
		}
		close(one.closed)
		one.dropAllPieces()
		return true
	})
	return true
}

// List describes the open sessions, the oldest first.
func (s *Set) List() []Info {
	s.mu.Lock()
	open := slices.Clone(s.open)
	s.mu.Unlock()
	infos := make([]Info, 0, len(open))
	for _, one := range open {
		infos = append(infos, one.Info())
	}
	return infos
}

// index needs s.mu.
func (s *Set) index(id string) int {
	return slices.IndexFunc(s.open, func(one *Session) bool { return one.id == id })
}
