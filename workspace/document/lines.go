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

// KeepLineEnds gives after, which an agent wrote with plain newlines, the line
// ends of before: a line that stood there keeps its own, a new one takes that of
// the line above it. Text that brings carriage returns of its own is left alone.
func KeepLineEnds(before, after string) string {
	mixed := strings.Contains(before, "\r\n")
	if strings.Contains(after, "\r") || !mixed && !OnlyReturns(before) {
		return after
	}
	return RestoreLineEnds(before, after)
}

// OnlyReturns: its lines end as those of old Macs do.
func OnlyReturns(text string) bool {
	return strings.Contains(text, "\r") && !strings.Contains(text, "\n")
}

// RestoreLineEnds is KeepLineEnds for a text that went through an editor, which
// shows mixed line ends all alike: whatever ends edited has, a line that stood in
// shown keeps its own.
func RestoreLineEnds(shown, edited string) string {
	old, now := splitLines(shown), splitLines(edited)
	ends := make([]string, len(now))
	i, j := 0, 0
	keep := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			ends[j] = LineEnd(old[i])
		}
	}
	for _, e := range diff.Lines(plainLines(old), plainLines(now)) {
		keep(e.OldStart)
		i, j = e.OldEnd, e.NewEnd
	}
	keep(len(old))
	first := ""
	if len(old) > 0 {
		first = LineEnd(old[0])
	}
	return joinWithEnds(now, ends, first)
}

// joinWithEnds gives each line its end, or that of the line above it.
func joinWithEnds(lines, ends []string, current string) string {
	var out []byte
	for k, line := range lines {
		if ends[k] != "" {
			current = ends[k]
		}
		own := LineEnd(line)
		body, end := line[:len(line)-len(own)], own
		if own != "" && current != "" {
			end = current
		}
		if end == "\n" && body == "" && len(out) > 0 && out[len(out)-1] == '\r' {
			end = "\r" // the two would be one line end
		}
		out = append(append(out, body...), end...)
	}
	return string(out)
}

// splitLines cuts after every end of a line that any editor knows.
func splitLines(s string) []string {
	var out []string
	for s != "" {
		n := LineBreak(s)
		if n < 0 {
			n = len(s)
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

func plainLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = PlainLineEnds(line)
	}
	return out
}

// LineEnd is what ends a line, "" for one without an end.
func LineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}
