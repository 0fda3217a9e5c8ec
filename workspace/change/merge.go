package change

import (
	"slices"
	"strings"

	"pillion/workspace/diff"
)

// Merge brings two changes of one text together, line by line. It reports false
// when both changed the same lines in different ways; nothing is then chosen.
func Merge(base, ours, theirs string) (string, bool) {
	lines, a, b := diff.SplitLines(base), diff.SplitLines(ours), diff.SplitLines(theirs)
	ourEdits, theirEdits := diff.Lines(lines, a), diff.Lines(lines, b)
	var out strings.Builder
	at := 0
	for len(ourEdits) > 0 || len(theirEdits) > 0 {
		edit, text, ok := nextEdit(&ourEdits, &theirEdits, a, b)
		if !ok || edit.OldStart < at {
			return "", false
		}
		writeLines(&out, lines[at:edit.OldStart])
		writeLines(&out, text)
		at = edit.OldEnd
	}
	writeLines(&out, lines[at:])
	return out.String(), true
}

// nextEdit takes the edit that comes first in the base. Edits of both sides that
// touch are one only when they are the same.
func nextEdit(ours, theirs *[]diff.Edit, a, b []string) (diff.Edit, []string, bool) {
	switch {
	case len(*theirs) == 0 || len(*ours) > 0 && (*ours)[0].OldEnd < (*theirs)[0].OldStart:
		e := pop(ours)
		return e, a[e.NewStart:e.NewEnd], true
	case len(*ours) == 0 || (*theirs)[0].OldEnd < (*ours)[0].OldStart:
		e := pop(theirs)
		return e, b[e.NewStart:e.NewEnd], true
	}
	e, f := pop(ours), pop(theirs)
	text := a[e.NewStart:e.NewEnd]
	same := e.OldStart == f.OldStart && e.OldEnd == f.OldEnd && slices.Equal(text, b[f.NewStart:f.NewEnd])
	return e, text, same
}

func pop(edits *[]diff.Edit) diff.Edit {
	e := (*edits)[0]
	*edits = (*edits)[1:]
	return e
}

func writeLines(out *strings.Builder, lines []string) {
	for _, line := range lines {
		out.WriteString(line)
	}
}
