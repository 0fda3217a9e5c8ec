package session

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
)

// Piece is one part of a file that an agent sends in several calls.
type Piece struct {
	ID    string // the agent's own name for the whole
	Path  string
	Index int // from 0
	Text  string
}

// arrival is a file of which pieces have come.
type arrival struct {
	path    string
	pieces  map[int]string
	size    int
	touched time.Time
}

// Bounds on what has come in pieces and is not written yet.
const (
	MaxArrivals   = 4 // of a session, at once
	MaxPieces     = 1000
	maxAllPieces  = 64 << 20 // bytes, of all sessions of a Set
	arrivalIsLeft = 10 * time.Minute
)

// KeepPiece keeps a piece until the file is complete, in whatever order they come. The
// whole has at most limit bytes. A piece that comes again must be the same.
func (s *Session) KeepPiece(p Piece, limit int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.arrival(p)
	if err != nil {
		return err
	}
	old, again := a.pieces[p.Index]
	switch {
	case again && old != p.Text:
		return fault.Invalid("chunk %d of %s was sent before with another text", p.Index, fault.Quote(p.ID)).
			WithHint("start again with another id")
	case again:
		return nil
	case int64(a.size+len(p.Text)) > limit:
		return fault.New(fault.FileTooLarge, "the chunks of %s have %d bytes, over the limit of %d", fault.Quote(p.ID), a.size+len(p.Text), limit).
			With("size", a.size+len(p.Text)).With("limit", limit).WithHint("write a smaller file")
	case s.pieces.Add(int64(len(p.Text))) > maxAllPieces:
		s.pieces.Add(-int64(len(p.Text)))
		return fault.New(fault.RateLimited, "too many chunks are waiting to be written; finish one file after the other").
			With("retry_after_ms", arrivalIsLeft.Milliseconds()).WithHint("unfinished files are dropped after %s", arrivalIsLeft)
	}
	a.pieces[p.Index] = p.Text
	a.size += len(p.Text)
	a.touched = time.Now()
	s.arrivals[p.ID] = a
	return nil
}

// arrival is the file that the piece belongs to. It needs s.mu.
func (s *Session) arrival(p Piece) (*arrival, error) {
	switch {
	case strings.TrimSpace(p.ID) == "" || len(p.ID) > maxIDLength:
		return nil, fault.Invalid("chunk.id must be a name of 1 to %d bytes for the whole file", maxIDLength)
	case p.Index < 0 || p.Index >= MaxPieces:
		return nil, fault.Invalid("chunk.index is %d; chunks count from 0, and there are at most %d", p.Index, MaxPieces)
	}
	if a := s.arrivals[p.ID]; a != nil {
		if a.path != p.Path {
			return nil, fault.Invalid("the chunks of %s are for another file", fault.Quote(p.ID)).WithHint("use a different id for each file")
		}
		return a, nil
	}
	for id, a := range s.arrivals {
		if time.Since(a.touched) > arrivalIsLeft {
			s.dropPieces(id)
		}
	}
	if len(s.arrivals) >= MaxArrivals {
		return nil, fault.New(fault.RateLimited, "%d files are already arriving in chunks; finish one of them first", len(s.arrivals)).
			With("retry_after_ms", arrivalIsLeft.Milliseconds()).WithHint("unfinished files are dropped after %s", arrivalIsLeft)
	}
	return &arrival{path: p.Path, pieces: map[int]string{}}, nil
}

// Joined is the whole text of which last is the last piece. It forgets nothing.
func (s *Session) Joined(last Piece, limit int64) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.arrival(last)
	if err != nil {
		return "", err
	}
	var missing, beyond []int
	var out strings.Builder
	for i := range last.Index {
		text, ok := a.pieces[i]
		if !ok {
			missing = append(missing, i)
		}
		out.WriteString(text)
	}
	for i, text := range a.pieces {
		if i > last.Index || i == last.Index && text != last.Text {
			beyond = append(beyond, i)
		}
	}
	out.WriteString(last.Text)
	switch {
	case len(missing) > 0:
		return "", fault.Invalid("chunk %d is said to be the last, and before it %s of %s %s not come",
			last.Index, listed(missing), fault.Quote(last.ID), have(missing)).
			With("missing", missing).WithHint("send the missing ones, then the last chunk again; chunks count from 0")
	case len(beyond) > 0:
		return "", fault.Invalid("chunk %d of %s is marked as the last, but a later one was sent", last.Index, fault.Quote(last.ID)).
			WithHint("start again with another id")
	case int64(out.Len()) > limit:
		return "", fault.New(fault.FileTooLarge, "the chunks of %s have %d bytes, over the limit of %d", fault.Quote(last.ID), out.Len(), limit).
			With("size", out.Len()).With("limit", limit).WithHint("write a smaller file")
	}
	return out.String(), nil
}

func listed(indexes []int) string {
	const most = 10
	text := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(indexes[:min(most, len(indexes))])), ", "), "[]")
	if len(indexes) > most {
		text += ", …"
	}
	return text
}

func have(indexes []int) string {
	if len(indexes) == 1 {
		return "has"
	}
	return "have"
}

// DropPieces forgets what came of a file: it is written, or will not be.
func (s *Session) DropPieces(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropPieces(id)
}

// dropPieces needs s.mu.
func (s *Session) dropPieces(id string) {
	if a := s.arrivals[id]; a != nil {
		s.pieces.Add(-int64(a.size))
		delete(s.arrivals, id)
	}
}

// dropAllPieces is for a session that is closed.
func (s *Session) dropAllPieces() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.arrivals {
		s.dropPieces(id)
	}
	s.pieces = new(atomic.Int64) // a call that still runs counts no more
}
