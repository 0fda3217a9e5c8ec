package diff

import (
	"slices"
	"strings"
)

// window is how many unchanged lines above and below all changes are looked at:
// more than any of the rules of slide look at.
const window = 64

// looked is how far the rules of slide look beyond the place of an edit; see look.
const looked = 22

// hunksOf gives the hunks of two texts that differ. Of the text above the first
// change and below the last one it looks at a window, which nearly always does.
func hunksOf(before, after string, context int) []Hunk {
	head := sameStart(before, after)
	tail := sameEnd(before[head:], after[head:])
	start := linesUp(before, head, window)
	end := len(before) - tail
	down := linesDown(before, end, window) - end

	v := view{
		before: SplitLines(before[start : end+down]), after: SplitLines(after[start : len(after)-tail+down]),
		atTop: start == 0, atBottom: end+down == len(before), context: max(context, 0),
	}
	edits := unslid(v.before, v.after)
	slid, inside := v.slide(slices.Clone(edits))
	if !inside {
		skipped := strings.Count(before[:start], "\n")
		for i := range edits {
			edits[i] = edits[i].moved(skipped)
		}
		v.before, v.after = SplitLines(before), SplitLines(after)
		v.atTop, v.atBottom, start = true, true, 0
		slid, _ = v.slide(edits)
	}
	return v.hunks(slid, before[:start])
}

// view is the lines of two texts, or of the parts of them in which all that
// differs lies.
type view struct {
	before, after   []string
	atTop, atBottom bool // nothing is left out there
	context         int
}

// holds reports whether there is enough around a change of these lines that
// what was left out could make no difference.
func (v *view) holds(lines []string, start, end int) bool {
	most := max(looked, v.context)
	return (v.atTop || start > most) && (v.atBottom || end < len(lines)-most)
}

// sameStart is how long the lines are with which both begin.
func sameStart(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for step := firstStep; step > 0; step /= 8 {
		for n+step <= most && a[n:n+step] == b[n:n+step] {
			n += step
		}
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// sameEnd is how long the lines are with which both end.
func sameEnd(a, b string) int {
	n, most := 0, min(len(a), len(b))
	for step := firstStep; step > 0; step /= 8 {
		for n+step <= most && a[len(a)-n-step:len(a)-n] == b[len(b)-n-step:len(b)-n] {
			n += step
		}
	}
	if startsLine(a, len(a)-n) && startsLine(b, len(b)-n) {
		return n
	}
	i := strings.IndexByte(a[len(a)-n:], '\n')
	if i < 0 {
		return 0
	}
	return n - i - 1
}

// firstStep is how many bytes are compared at a time, as long as they are the same.
const firstStep = 4096

func startsLine(s string, at int) bool { return at == 0 || s[at-1] == '\n' }

// linesUp is the start of the line that is n lines above the one that starts at.
func linesUp(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = strings.LastIndexByte(s[:at-1], '\n') + 1
	}
	return at
}

// linesDown is the start of the line that is n lines below the one that starts at.
func linesDown(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return len(s)
		}
		at += i + 1
	}
	return at
}

// headingAbove is the last heading of a text that ends with a line.
func headingAbove(s string) string {
	for s != "" {
		at := strings.LastIndexByte(s[:len(s)-1], '\n') + 1
		if startsHeading(s[at:]) {
			return shortened(s[at:])
		}
		s = s[:at]
	}
	return ""
}
