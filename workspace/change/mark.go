package change

import (
	"slices"

	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// withMarks are the hunks of a text as its file's bytes have them: texts are held without
// their byte order mark, which git has as a part of the first line.
func withMarks(hunks []diff.Hunk, before, after document.Content) []diff.Hunk {
	had, has := isMarked(before), isMarked(after)
	if len(hunks) == 0 || !had && !has {
		return hunks
	}
	from, _ := hunks[0].OldSpan()
	first, _ := hunks[0].NewSpan()
	var lines []diff.Line
	for _, line := range hunks[0].Lines {
		old, now := from == 0 && line.Op != diff.Insert, first == 0 && line.Op != diff.Delete
		switch {
		case old && now && had != has:
			lines = append(lines, diff.Line{Op: diff.Delete, Text: marked(line.Text, had)}, diff.Line{Op: diff.Insert, Text: marked(line.Text, has)})
			from, first = 1, 1
			continue
		case old:
			line.Text, from = marked(line.Text, had), 1
		}
		if now {
			if line.Op == diff.Insert {
				line.Text = marked(line.Text, has)
			}
			first = 1
		}
		lines = append(lines, line)
	}
	hunks = slices.Clone(hunks)
	hunks[0].Lines = lines
	return hunks
}

func isMarked(c document.Content) bool { return c.BOM && c.Encoding == document.UTF8 }

func marked(line string, mark bool) string {
	if mark {
		return "\ufeff" + line
	}
	return line
}
