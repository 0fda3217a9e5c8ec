package document

import (
	"strings"

	"pillion/workspace/diff"
)

// EOL names the line ends of text in EditorConfig's terms: "lf", "crlf", "mixed",
// or "" for a text of a single line.
func EOL(text string) string {
	crlf := strings.Count(text, "\r\n")
	lf := strings.Count(text, "\n") - crlf
	switch {
	case crlf > 0 && lf > 0:
		return "mixed"
	case crlf > 0:
		return "crlf"
	case lf > 0:
		return "lf"
	}
	return ""
}

// LineCount is the number of lines as editors number them, a last line without
// an end counted and the emptiness after a final line end not.
func LineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// LineRange cuts the lines first to last, 1-based and inclusive, out of text,
// with their line ends.
func LineRange(text string, first, last int) string {
	start := lineStart(text, first)
	return text[start : start+lineStart(text[start:], last-first+2)]
}

// lineStart is the byte offset at which line n, 1-based, begins.
func lineStart(text string, n int) int {
	offset := 0
	for ; n > 1; n-- {
		i := strings.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text)
		}
		offset += i + 1
	}
	return offset
}

// KeepLineEnds gives after, a text written with plain newlines, the line ends of
// before: a line that stood there keeps its own, a new one takes that of the line
// above it. Text that brings carriage returns of its own is left alone.
func KeepLineEnds(before, after string) string {
	if !strings.Contains(before, "\r\n") || strings.Contains(after, "\r") {
		return after
	}
	old, now := diff.SplitLines(before), diff.SplitLines(after)
	ends := make([]string, len(now))
	i, j := 0, 0
	keep := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			ends[j] = lineEnd(old[i])
		}
	}
	for _, e := range diff.Lines(plainLines(old), now) {
		keep(e.OldStart)
		i, j = e.OldEnd, e.NewEnd
	}
	keep(len(old))
	return joinWithEnds(now, ends, lineEnd(old[0]))
}

func joinWithEnds(lines, ends []string, first string) string {
	var out strings.Builder
	current := first
	for k, line := range lines {
		if ends[k] != "" {
			current = ends[k]
		}
		if body, ended := strings.CutSuffix(line, "\n"); ended {
			out.WriteString(body + current)
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

func plainLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSuffix(line, lineEnd(line))
		if lineEnd(line) != "" {
			out[i] += "\n"
		}
	}
	return out
}

func lineEnd(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return ""
}
