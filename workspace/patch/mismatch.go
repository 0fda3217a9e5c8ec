package patch

import "fmt"

// Mismatch is why a hunk cannot be made.
type Mismatch struct {
	Hunk     int      // which, from 1
	Line     int      // of the patch, where it begins
	Reason   string   // a sentence
	Expected []string // the lines that it wants, as they are in the patch
	At       int      // line of the text, from 1, at which its lines are most like those; 0: nowhere
	Found    []string // as many lines from there on
	Differs  int      // which of them is the first that is another, from 0
	Places   []int    // of an ambiguous hunk, the lines at which it could be made
	Applied  bool     // the text has what the hunk would make already
}

func (m *Mismatch) Error() string { return fmt.Sprintf("hunk %d: %s", m.Hunk, m.Reason) }

// The reasons.
const (
	reasonAbsent    = "its lines are not in the file"
	reasonAmbiguous = "its lines are in the file more than once, and it is unclear which are meant"
	reasonOrder     = "its nearest lines are above the previous hunk; hunks must be in file order"
	reasonBare      = "it only adds lines and has no context, so it is unclear where"
	reasonWork      = "its position cannot be found: too many lines of the file are alike, and its line numbers are wrong"
	reasonAnchor    = "the line after its @@ is not in the file"
	reasonAbove     = "its lines are in the file, but only above or within an earlier hunk; hunks must be in file order and must not overlap"
	reasonNotBelow  = "its lines are in the file, but not after the line of its @@ and the earlier hunks"
	reasonApplied   = "it is already applied: the file has its result"
	reasonNotLast   = "its lines are in the file, but not at its end, as \"*** End of File\" says"
)

func (a *applier) mismatch(i int, h Hunk, reason string) *Mismatch {
	m := &Mismatch{Hunk: i + 1, Line: h.Line, Reason: reason, Expected: h.Old()}
	a.work = max(a.work, mostWork/10)
	if reason == reasonAmbiguous {
		if places := a.all(&a.exact, m.Expected, a.end, mostTold); len(places) > 1 {
			m.Places = places
		} else {
			m.Places = a.all(&a.loose, m.Expected, a.end, mostTold)
		}
		for i := range m.Places {
			m.Places[i]++
		}
		return m
	}
	if reason == reasonAnchor {
		m.Expected = nil
		for _, anchor := range h.Anchors {
			m.Expected = append(m.Expected, anchor+"\n")
		}
	}
	m.Applied = reason == reasonApplied || reason == reasonAbsent && !allBlank(h.New()) && len(a.all(&a.loose, h.New(), a.end, 1)) == 1
	at := -1
	switch reason {
	case reasonAbsent:
		at = a.mostLike(h, m.Expected)
	case reasonOrder, reasonAbove, reasonNotBelow, reasonNotLast:
		if there := a.all(&a.loose, m.Expected, 0, 1); len(there) > 0 {
			at = there[0]
		}
	}
	if at < 0 || at >= len(a.lines) {
		return m
	}
	m.At, m.Found = at+1, a.lines[at:min(len(a.lines), at+len(m.Expected))]
	for m.Differs < len(m.Found) && trimmed(m.Found[m.Differs]) == trimmed(m.Expected[m.Differs]) {
		m.Differs++
	}
	if m.Differs == len(m.Expected) { // they are all there, at a place where they may not be
		m.Differs = 0
	}
	return m
}

// Of an ambiguous hunk so many places are told; of a line that is in the text more often
// than mostVotes it is not counted what stands around it.
const (
	mostTold  = 10
	mostVotes = 100
)

// mostLike is the line from which on most lines of a hunk stand where they should; of
// several the nearest to where the hunk's header says.
func (a *applier) mostLike(h Hunk, old []string) int {
	votes := map[int]int{}
	want := a.loose.pattern(old)
	for i, id := range want {
		if trimmed(old[i]) == "" || len(a.loose.at[id]) > mostVotes {
			continue
		}
		for _, at := range a.loose.at[id] {
			votes[max(0, int(at)-i)]++
		}
	}
	target := -1
	if !h.Unnumbered {
		target = max(0, min(named(h)-a.delta, len(a.lines)-1))
	}
	best, most := target, 0
	for at, n := range votes {
		if n > most || n == most && (distance(at, target) < distance(best, target) || distance(at, target) == distance(best, target) && at < best) {
			best, most = at, n
		}
	}
	return best
}

func distance(a, b int) int {
	if a > b {
		return a - b
	}
	return b - a
}
