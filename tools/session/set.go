package session

import (
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// maxOpen bounds the memory that unknown session ids can take: a call with one
// opens a session.
const maxOpen = 1000

// Set is the open sessions.
type Set struct {
	texts     *Texts
	pieces    *atomic.Int64
	following atomic.Pointer[[]*following] // followers, for whoever does not hold mu

	mu          sync.Mutex // guards what follows
	keeper      Keeper     // nil: nothing is kept
	followers   []*following
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

// DefaultMode is that in which sessions start.
func (s *Set) DefaultMode() policy.Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.defaultMode
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
	if mode != "" {
		if _, err := policy.ParseMode(string(mode)); err != nil {
			return nil, false, err
		}
	}
	owner := Owner{Door: byEditor, Name: agent.Name, ID: id}
	if agent.Via == byGateway {
		owner.Door = byGateway
	}
	if at := s.index(id); at >= 0 {
		return s.open[at], s.open[at].occupy(owner), nil
	}
	if err := s.full(); err != nil {
		return nil, false, err
	}
	return s.begin(owner, agent, mode, s.hold(owner, false)), true, nil
}

// Proof is what an agent on the agents' socket says to have its session back.
type Proof struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// Admit opens the session of an agent on the agents' socket: the one that it proves to
// have had, unless somebody is connected with it, or else a new one. It never says which
// others there are. The secret proves it the next time; without a keeper there is none.
func (s *Set) Admit(agent Agent, cwd string, back Proof) (_ *Session, secret string, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := Owner{Door: byAgents, Name: agent.Name, ID: back.ID, Cwd: cwd}
	if at := s.index(back.ID); at >= 0 && proves(s.open[at].secret, back.Secret) && s.open[at].occupy(owner) {
		return s.open[at], back.Secret, nil
	}
	if err := s.full(); err != nil {
		return nil, "", err
	}
	if s.keeper == nil {
		owner.ID = NewID()
		return s.begin(owner, agent, "", nil), "", nil
	}
	if slot := s.proven(owner, back.Secret); slot != nil {
		return s.begin(owner, agent, "", slot), back.Secret, nil
	}
	owner.ID, secret = NewID(), rand.Text()
	opened := s.begin(owner, agent, "", s.hold(owner, false))
	opened.mu.Lock()
	opened.secret = hashed(secret)
	opened.mu.Unlock()
	return opened, secret, nil
}

// Prompted is Session.Prompted of the session that somebody proves to have, if it is open.
func (s *Set) Prompted(of Proof, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.index(of.ID)
	if at < 0 || !proves(s.open[at].secret, of.Secret) {
		return false
	}
	s.open[at].Prompted(text)
	return true
}

// Recall opens a kept session without its agent, for the user to look after.
func (s *Set) Recall(id string) (*Session, bool) {
	if one, open := s.Get(id); open {
		return one, true
	}
	kept := s.listKept()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.index(id); at >= 0 {
		return s.open[at], true
	}
	for _, k := range kept {
		if k.Owner.ID != id || s.full() != nil {
			continue
		}
		if slot := s.hold(k.Owner, true); slot != nil {
			opened := s.begin(k.Owner, k.Agent, "", slot)
			opened.away, opened.vacant = true, true
			return opened, true
		}
	}
	return nil, false
}

// occupy has the agent that comes back take a session that was looked up for the user.
func (s *Session) occupy(owner Owner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.vacant || s.owner != owner {
		return false
	}
	s.vacant, s.away = false, false
	s.changed(s)
	return true
}

// full needs s.mu, as the three that follow do.
func (s *Set) full() error {
	if len(s.open) < maxOpen {
		return nil
	}
	return fault.New(fault.RateLimited,
		"%d sessions are already open: close one, or use the id of an open one", len(s.open))
}

// proven is the place of a session that an agent proves to have had.
func (s *Set) proven(owner Owner, secret string) Slot {
	if CheckID(owner.ID) != nil || s.index(owner.ID) >= 0 {
		return nil
	}
	slot := s.hold(owner, true)
	if slot == nil {
		return nil
	}
	if k, ok := slot.Kept(); ok && k.provenBy(secret) {
		return slot
	}
	slot.Release()
	return nil
}

func (s *Set) hold(owner Owner, known bool) Slot {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Hold(owner, known)
}

// begin makes a session, with what is kept in its slot.
func (s *Set) begin(owner Owner, agent Agent, mode policy.Mode, slot Slot) *Session {
	chosen := mode != ""
	if !chosen {
		mode = s.defaultMode
	}
	opened := New(owner.ID, agent, mode)
	opened.SetLimits(s.limits)
	opened.chosen, opened.standard = chosen, s.defaultMode
	opened.owner, opened.slot, opened.lasts = owner, slot, slot != nil
	if slot != nil {
		if k, ok := slot.Kept(); ok {
			opened.restore(k, s.defaultMode)
		}
	}
	s.addLocked(opened)
	return opened
}

// addLocked needs s.mu.
func (s *Set) addLocked(opened *Session) {
	opened.texts, opened.pieces, opened.changed = s.texts, s.pieces, s.note
	s.open = append(s.open, opened)
	s.note(opened)
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

// Close ends a session whose agent has left, with its children, and says whether it was
// open. Whoever waits for its Closed ends what belongs to it; its calls go on. What is kept
// of it is there for the agent that comes back.
func (s *Set) Close(id string) bool { return s.close(id, false) }

// End is Close by the user: nothing of the session is kept.
func (s *Set) End(id string) bool {
	if s.close(id, true) {
		return true
	}
	s.mu.Lock()
	keeper := s.keeper
	s.mu.Unlock()
	gone := false
	for _, k := range s.listKept() {
		gone = k.Owner.ID == id && keeper.Forget(k.Owner) || gone
	}
	return gone
}

func (s *Set) close(id string, end bool) bool {
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
		one.mu.Lock()
		one.away, one.ended = true, end
		one.mu.Unlock()
		close(one.closed)
		one.dropAllPieces()
		one.leave(end)
		s.note(one)
		return true
	})
	return true
}

// Keep has what outlives the program kept by k, off the path of calls, from now on. The
// sessions that are open at the end are saved by stop, which lets go of them.
func (s *Set) Keep(k Keeper) (stop func()) {
	s.mu.Lock()
	s.keeper = k
	s.mu.Unlock()
	s.Follow(keepEvery, func(one *Session) bool { one.keep(); return true })
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, one := range s.open {
			one.leave(false)
		}
		s.keeper = nil
	}
}

// keepEvery is what of a session's life a kill may lose.
const keepEvery = 500 * time.Millisecond

// Ended says that the session is no more: it was closed, and nothing of it is kept.
func (s *Session) Ended() bool {
	select {
	case <-s.closed:
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, worth := s.kept()
	return s.ended || !worth || !s.lasts
}

// All describes the open sessions, the oldest first, and after them those that are kept
// for their agents, the newest first.
func (s *Set) All() []Info {
	infos := s.List()
	kept := s.listKept()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kept {
		if !slices.ContainsFunc(infos, func(i Info) bool { return i.SessionID == k.Owner.ID }) {
			infos = append(infos, k.info(s.defaultMode))
		}
	}
	return infos
}

// listKept is what is kept of sessions that no program has.
func (s *Set) listKept() []Kept {
	s.mu.Lock()
	keeper := s.keeper
	s.mu.Unlock()
	if keeper == nil {
		return nil
	}
	return keeper.List()
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
