package session

import (
	"sync"
	"time"
)

// Follower hears of a session that changed, or that was closed (see Session.Closed). What it
// could not take it hears again.
type Follower func(*Session) (taken bool)

// following is one follower, and the sessions that it has not heard of yet.
type following struct {
	every time.Duration
	tell  Follower

	telling sync.Mutex // one tells at a time

	mu      sync.Mutex // guards what follows
	waiting []*Session
	known   map[*Session]bool // that wait
	timer   *time.Timer       // nil: nobody waits
	told    time.Time
}

// Follow has tell hear of each session that changes, at most once in every for each, and
// not on the path of what changes it. The last state always arrives: stop has it heard
// first.
func (s *Set) Follow(every time.Duration, tell Follower) (stop func()) {
	f := &following{every: every, tell: tell, known: map[*Session]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followers = append(s.followers[:len(s.followers):len(s.followers)], f)
	all := s.followers
	s.following.Store(&all)
	return f.flush
}

// note is called with the session's lock held.
func (s *Set) note(changed *Session) {
	if all := s.following.Load(); all != nil {
		for _, f := range *all {
			f.note(changed)
		}
	}
}

func (f *following) note(changed *Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[changed] {
		f.known[changed] = true
		f.waiting = append(f.waiting, changed)
	}
	if f.timer == nil {
		f.timer = time.AfterFunc(max(0, f.every-time.Since(f.told)), f.flush)
	}
}

// flush tells of all that wait.
func (f *following) flush() {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.mu.Lock()
	if f.timer != nil {
		f.timer.Stop()
	}
	waiting := f.waiting
	f.waiting, f.known, f.timer, f.told = nil, map[*Session]bool{}, nil, time.Now()
	f.mu.Unlock()
	for _, one := range waiting {
		if !f.tell(one) {
			f.note(one)
		}
	}
}
