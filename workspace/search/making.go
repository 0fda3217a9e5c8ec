package search

import (
	"context"
	"sync"
)

// making is how many lists are being made.
type making struct {
	mu   sync.Mutex // guards all below
	now  int
	none chan struct{} // closed when there are none; nil before the first
}

func (m *making) begin() (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now++; m.now == 1 {
		m.none = make(chan struct{})
	}
	return m.end
}

func (m *making) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now--; m.now == 0 {
		close(m.none)
	}
}

// Urgent says until done is called that somebody who is waited for goes through folders,
// as a list that is made does: see GiveWay.
func (f *Files) Urgent() (done func()) {
	if f == nil {
		return func() {}
	}
	return f.making.begin()
}

// GiveWay returns when no list is being made, at the latest when ctx ends. Who looks
// through all folders and is not waited for asks it before each: the first list that an
// agent wants comes when the folders to watch are found, and both need all processors.
func (f *Files) GiveWay(ctx context.Context) {
	f.making.mu.Lock()
	busy, none := f.making.now > 0, f.making.none
	f.making.mu.Unlock()
	if !busy {
		return
	}
	select {
	case <-none:
	case <-ctx.Done():
	}
}
