// Package diff compares two texts line by line: an edit script (Lines), hunks
// with context (Hunks) and the text that git apply and patch read (Unified).
//
// It finds the shortest script of up to 256 changed lines, a short one beyond,
// with work that is linear then, and the same script every time. Words, renames, binary
// files and the header lines of a file's diff are not here; package git has
// those. It imports the standard library alone.
package diff

import "strings"

// Edit replaces the lines OldStart to OldEnd of the old text by the lines
// NewStart to NewEnd of the new one: 0-based, half open.
type Edit struct {
	OldStart, OldEnd int
	NewStart, NewEnd int
}

// SplitLines cuts s after every "\n", which stays with its line. The last line
// may have none. A lone "\r" ends no line. No text is no lines.
func SplitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for s != "" {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}

// Lines returns the edits that turn before into after, in order, never
// touching each other.
func Lines(before, after []string) []Edit {
	v := view{before: before, after: after, atTop: true, atBottom: true}
	edits, _ := v.slide(unslid(before, after))
	return edits
}

// unslid gives the edits where the comparison put them.
func unslid(before, after []string) []Edit {
	head := commonPrefix(before, after)
	tail := commonSuffix(before[head:], after[head:])
	budget := totalBudget
	changes := compare(before[head:len(before)-tail], after[head:len(after)-tail], &budget)

	edits := changes.edits()
	for i := range edits {
		edits[i].OldStart += head
		edits[i].OldEnd += head
		edits[i].NewStart += head
		edits[i].NewEnd += head
	}
	return edits
}

func commonPrefix[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// changes marks the lines of two sequences that are not in common. The lines
// left unmarked are the same, in the same order, on both sides.
type changes struct {
	deleted, inserted []bool
}

func (c changes) edits() []Edit {
	var edits []Edit
	i, j := 0, 0
	for {
		for i < len(c.deleted) && j < len(c.inserted) && !c.deleted[i] && !c.inserted[j] {
			i++
			j++
		}
		e := Edit{OldStart: i, NewStart: j}
		for i < len(c.deleted) && c.deleted[i] {
			i++
		}
		for j < len(c.inserted) && c.inserted[j] {
			j++
		}
		if i == e.OldStart && j == e.NewStart {
			return edits
		}
		e.OldEnd, e.NewEnd = i, j
		edits = append(edits, e)
	}
}
