package diff

import "strings"

// Select is the text with some of the hunks that lead from before to after: those
// whose index take agrees to. The hunks are in order and do not overlap; whatever
// context they have is the same in both texts, so any of them can be left out.
func Select(before, after string, hunks []Hunk, take func(i int) bool) string {
	old, changed := SplitLines(before), SplitLines(after)
	var out strings.Builder
	out.Grow(max(len(before), len(after)))
	add := func(lines []string) {
		for _, line := range lines {
			out.WriteString(line)
		}
	}
	at := 0
	for i, h := range hunks {
		if !take(i) {
			continue
		}
		from, to := h.OldSpan()
		add(old[at:from])
		first, end := h.NewSpan()
		add(changed[first:end])
		at = to
	}
	add(old[at:])
	return out.String()
}

// OldSpan are the lines of the text before that the hunk is about, from 0, the last not
// among them.
func (h Hunk) OldSpan() (from, to int) { return bounds(h.OldStart, h.OldLines) }

// NewSpan are the lines of the text after that the hunk is about.
func (h Hunk) NewSpan() (from, to int) { return bounds(h.NewStart, h.NewLines) }

func bounds(start, lines int) (from, to int) {
	if lines > 0 {
		start--
	}
	return start, start + lines
}
