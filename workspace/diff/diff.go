// Package diff compares two texts line by line: an edit script (Lines), hunks
// with context (Hunks) and the text that git apply and patch read (Unified).
//
// znkr.io/diff finds the script: a short one, not always the shortest, and the same one every time. Renames, binary
// files and the header lines of a file's diff are not here.
package diff

import (
	"strings"

	"znkr.io/diff"
)

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
	start, end := same(before, after, 0)
	before, after = before[start:len(before)-end], after[start:len(after)-end]
	if (len(before) == 0) != (len(after) == 0) { // nothing to compare, as of a new file
		return []Edit{{start, start + len(before), start, start + len(after)}}
	}
	var edits []Edit
	for _, h := range diff.Hunks(before, after, options(before, after)...) {
		edits = append(edits, Edit{start + h.PosX, start + h.EndX, start + h.PosY, start + h.EndY})
	}
	return edits
}

// same is how many lines both begin with, and end with, each without the last so many.
func same(before, after []string, around int) (start, end int) {
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return max(start-around, 0), max(end-around, 0)
}

// mostLines is how many lines two texts may have together for a short script
// to be looked for: of so many that are hardly alike it takes a second. Of more, what comes at once is taken.
const mostLines = 20_000

func options(before, after []string) []diff.Option {
	if len(before)+len(after) > mostLines {
		return []diff.Option{diff.Context(0), diff.Fast()}
	}
	return []diff.Option{diff.Context(0)}
}
