package diff

import "strings"

// window is how many lines around a change are looked at where it is one of a large
// text: more than any of the rules of slide look at.
const window = 64

// local gives the hunk of two texts that differ in one place, by looking at the lines
// around it alone. It reports false where that does not do, or might not.
func local(before, after string, context int) (h Hunk, ok bool) {
	head, tail := sameStart(before, after), 0
	tail = sameEnd(before[head:], after[head:])
	start := linesUp(before, head, window)
	end := len(before) - tail
	down := linesDown(before, end, window) - end
	if context < 0 || context > window/2 || start == 0 && end+down == len(before) {
		return h, false
	}
	old, changed := SplitLines(before[start:end+down]), SplitLines(after[start:len(after)-tail+down])
	atTop, atBottom := start == 0, end+down == len(before)
	edits := unslid(old, changed)
	if len(edits) != 1 || !staysInside(old, changed, edits[0], atTop, atBottom) {
		return h, false
	}
	edits = slide(old, changed, edits)
	h = hunk(old, changed, edits, context)
	above := edits[0].OldStart - min(context, edits[0].OldStart)
	for _, line := range old[:above] {
		start += len(line)
	}
	skipped := strings.Count(before[:start], "\n") - above
	h.OldStart += skipped
	h.NewStart += skipped
	h.Section = headingAbove(before[:start])
	return h, true
}

// staysInside: slide, of this one edit, looks at no line beyond the window.
func staysInside(before, after []string, e Edit, atTop, atBottom bool) bool {
	lines, start, end := after, e.NewStart, e.NewEnd
	switch {
	case e.OldStart == e.OldEnd:
	case e.NewStart == e.NewEnd:
		lines, start, end = before, e.OldStart, e.OldEnd
	default:
		return true
	}
	for start > 0 && lines[start-1] == lines[end-1] {
		start, end = start-1, end-1
	}
	top := start
	start, end = e.NewStart, e.NewEnd
	if e.NewStart == e.NewEnd {
		start, end = e.OldStart, e.OldEnd
	}
	for end < len(lines) && lines[start] == lines[end] {
		start, end = start+1, end+1
	}
	const looked = 22 // see look
	return (atTop || top > looked) && (atBottom || end < len(lines)-looked)
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
