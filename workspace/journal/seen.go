package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// seen is what was read of a segment, so that it is not read again: segments only grow.
type seen struct {
	upTo  int64
	begun []*Entry
	ends  []ending
	marks []mark
}

// mostSeen bounds the entries that are held in memory.
const mostSeen = 5000

// seen reads what came to a segment since the last look. One that is gone has nothing.
func (s *Store) seen(name string) (seen, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	f, err := openRegular(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) { // pruned this moment
		return seen{}, nil
	}
	if err != nil {
		return seen{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return seen{}, err
	}
	at := s.known[name]
	if at.upTo > info.Size() {
		at = seen{} // cut off, and written anew
	}
	if at.upTo < info.Size() {
		before := len(at.begun)
		if at.upTo, err = scan(f, at.upTo, info.Size(), func(fr frame) { at.add(name, fr) }); err != nil {
			return seen{}, err
		}
		s.remember(name, at, len(at.begun)-before)
	}
	// Others append while this list is in use.
	at.begun, at.ends, at.marks = slices.Clip(at.begun), slices.Clip(at.ends), slices.Clip(at.marks)
	return at, nil
}

// remember needs s.reading.
func (s *Store) remember(name string, at seen, more int) {
	if s.held += more; s.held > mostSeen || s.known == nil {
		s.known, s.held = map[string]seen{}, len(at.begun)
	}
	s.known[name] = at
}

// add takes one frame. What cannot be read is passed over: a later version wrote it.
func (a *seen) add(name string, f frame) {
	switch f.kind {
	case kindBegin:
		e := &Entry{State: StatePending, segment: name}
		if json.Unmarshal(f.payload, e) == nil {
			a.begun = append(a.begun, e)
		}
	case kindEnd:
		var end ending
		if json.Unmarshal(f.payload, &end) == nil {
			a.ends = append(a.ends, end)
		}
	case kindMark:
		var m mark
		if json.Unmarshal(f.payload, &m) == nil {
			a.marks = append(a.marks, m)
		}
	}
}
