package session

import (
	"time"
)

// sighting is what the agent knows of one file.
type sighting struct {
	version string
	whole   string    // the version that it last knew all of; "" if it only read parts
	lines   int       // of version, how many it read from the first on without a gap
	result  string    // the version that its own merged change gave: see SawMerge
	checked time.Time // the file had this version then
	told    string    // the newer version that the agent was told of
}

// Saw records that the agent knows this version of a path, all of it.
func (s *Session) Saw(path, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[path] = sighting{version: version, whole: version, checked: time.Now()}
}

// SawLines records that the agent read the lines first to last, of total, of this version
// of a path. Who reads one part after the other knows the whole in the end.
func (s *Session) SawLines(path, version string, first, last, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[path]
	now := sighting{version: version, whole: known.whole, checked: time.Now()}
	if known.version == version {
		now.lines = known.lines
	}
	if first <= now.lines+1 {
		now.lines = max(now.lines, last)
	}
	if now.lines >= total {
		now.whole = version
	}
	s.seen[path] = now
}

// SawMerge records that a change of the agent's was merged with one of somebody
// else's. What it has in mind is its own text alone, of the version believed; what it
// was told is the version of the result, which it has not read.
func (s *Session) SawMerge(path, believed, result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[path] = sighting{version: believed, whole: believed, result: result, checked: time.Now()}
}

// Believes gives the version of the text that the agent has in mind when it names
// this version of a path.
func (s *Session) Believes(path, version string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.seen[path]; version != "" && known.result == version {
		return known.version
	}
	return version
}

// SeenWhole gives the version of a path that the agent last knew all of, "" if it never
// did.
func (s *Session) SeenWhole(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[path].whole
}

// Seen gives the version of a path that the agent knows.
func (s *Session) Seen(path string) (version string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[path]
	return known.version, ok
}

// Known is one file that the agent knows.
type Known struct {
	Path    string
	Checked time.Time // it had the version that the agent knows then
}

// Known lists the files that the agent knows, in no order.
func (s *Session) Known() []Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Known, 0, len(s.seen))
	for path, known := range s.seen {
		out = append(out, Known{path, known.checked})
	}
	return out
}

// Check records that a path has this version at a time, and says whether that is
// news to the agent. It is news once.
func (s *Session) Check(path, version string, at time.Time) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[path]
	switch {
	case !ok:
		return false
	case known.version == version, known.result == version:
		known.checked, known.told = at, ""
	case known.told != version:
		known.told, news = version, true
	}
	s.seen[path] = known
	return news
}
