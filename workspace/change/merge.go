package change

import (
	"slices"
	"strings"

	"pillion/workspace/diff"
)

// Merge brings two changes of one text together, line by line. It reports false
// when both changed the same lines, or lines that touch, in different ways; nothing is
// then chosen. It agrees with `git merge-file` on what is a conflict.
func Merge(base, ours, theirs string) (string, bool) {
	lines := diff.SplitLines(base)
	a, b := newSide(lines, ours), newSide(lines, theirs)
	var out strings.Builder
	at := 0
	for !a.done() || !b.done() {
		start, end := a.span(b)
		text, other := a.take(start, end), b.take(start, end)
		switch {
		case !a.changed || b.changed && slices.Equal(text, other):
			text = other
		case b.changed:
			return "", false
		}
		writeLines(&out, lines[at:start])
		writeLines(&out, text)
		at = end
	}
	writeLines(&out, lines[at:])
	return out.String(), true
}

// side is one of the two changes.
type side struct {
	lines   []string
	edits   []diff.Edit // those to come
	shift   int         // how far its lines stand from the base's
	changed bool        // in the span that was taken last
}

func newSide(base []string, text string) *side {
	lines := diff.SplitLines(text)
	return &side{lines: lines, edits: diff.Lines(base, lines)}
}

func (s *side) done() bool { return len(s.edits) == 0 }

// span is the next lines of the base that the two sides changed: the next edit, and all
// that touch it or one another.
func (s *side) span(other *side) (start, end int) {
	i, j := 0, 0
	start, end = -1, -1
	for {
		switch {
		case i < len(s.edits) && s.joins(i, other, j, end):
			start, end = widen(start, end, s.edits[i])
			i++
		case j < len(other.edits) && other.joins(j, s, i, end):
			start, end = widen(start, end, other.edits[j])
			j++
		default:
			return start, end
		}
	}
}

// joins: edit i is the first of all, or touches what ends at end.
func (s *side) joins(i int, other *side, j, end int) bool {
	if end < 0 {
		return j >= len(other.edits) || s.edits[i].OldStart <= other.edits[j].OldStart
	}
	return s.edits[i].OldStart <= end
}

func widen(start, end int, e diff.Edit) (int, int) {
	if end < 0 {
		return e.OldStart, e.OldEnd
	}
	return start, max(end, e.OldEnd)
}

// take is what the side has for the lines from start up to end of the base.
func (s *side) take(start, end int) []string {
	from := start + s.shift
	s.changed = false
	for len(s.edits) > 0 && s.edits[0].OldEnd <= end {
		e := s.edits[0]
		s.shift = e.NewEnd - e.OldEnd
		s.edits, s.changed = s.edits[1:], true
	}
	return s.lines[from : end+s.shift]
}

func writeLines(out *strings.Builder, lines []string) {
	for _, line := range lines {
		out.WriteString(line)
	}
}
