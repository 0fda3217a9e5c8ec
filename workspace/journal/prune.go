package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// grace is how long after its last write a segment of a living program may still be
// the one that it writes to.
const grace = 10 * time.Minute

// prune removes whole segments: those over the age, then the oldest until the rest
// fits. It never touches what a living program may be writing to.
func (s *Store) prune() {
	o, total := s.settings(), s.Size()
	s.remove(func(f found, later []found, alive map[string]bool) bool { //nolint:errcheck // the next one tries again
		if s.inUse(f, later, alive) || time.Since(f.modified) <= o.MaxAge && total <= o.MaxBytes {
			return true
		}
		total -= f.size
		return false
	})
	s.pruneBackups(o)
}

// found is a segment on disk.
type found struct {
	name     string
	size     int64
	modified time.Time
}

// remove takes away, oldest first, what is not to stay.
func (s *Store) remove(stays func(f found, later []found, alive map[string]bool) bool) (removed int, err error) {
	names, err := s.segments()
	if err != nil {
		return 0, err
	}
	alive, err := lives(s.dir)
	if err != nil {
		return 0, err
	}
	var all []found
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			all = append(all, found{name, info.Size(), info.ModTime()})
		}
	}
	for i, f := range all {
		if stays(f, all[i+1:], alive) {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// inUse: somebody may be writing to it.
func (s *Store) inUse(f found, later []found, alive map[string]bool) bool {
	writer := writerOf(f.name)
	if writer == s.writer {
		s.mu.Lock()
		defer s.mu.Unlock()
		for g := range s.open {
			if g.name == f.name {
				return true
			}
		}
		return false
	}
	if !alive[writer] {
		return false
	}
	isLast := !slices.ContainsFunc(later, func(o found) bool { return writerOf(o.name) == writer })
	return isLast || time.Since(f.modified) < grace
}

// lull is how long after its last write nobody is in the midst of a change.
const lull = 5 * time.Second

// Clear removes all that nobody is in the midst of writing, and says how many segments
// that were, and how many stay. Living programs begin new ones.
func (s *Store) Clear() (removed, left int, err error) {
	removed, err = s.remove(func(f found, later []found, alive map[string]bool) bool {
		if writerOf(f.name) == s.writer {
			return s.inUse(f, later, alive)
		}
		return alive[writerOf(f.name)] && time.Since(f.modified) < lull
	})
	if err != nil {
		return removed, 0, err
	}
	if err := s.clearBackups(); err != nil {
		return removed, 0, err
	}
	names, err := s.segments()
	return removed, len(names), err
}

// Size is how many bytes all segments have together.
func (s *Store) Size() int64 {
	names, err := s.segments()
	if err != nil {
		return 0
	}
	n := int64(0)
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}
