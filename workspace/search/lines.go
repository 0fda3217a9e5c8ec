package search

import (
	"context"
	"strings"
	"unicode/utf8"

	"pillion/workspace"
)

const (
	longestLine = 500 // characters that are shown of a line
	leadIn      = 100 // of them before the match, when the line is cut
)

// matches lists the lines of one file that match, one more than the limit at most.
func (s *search) matches(ctx context.Context, finder finder, path workspace.Path, text string) ([]Match, error) {
	var out []Match
	line, counted := 1, 0 // the number of the line that starts at counted
	shown := 0            // the text before it is shown by an earlier match
	find := finder(ctx, text)
	for from := 0; from < len(text) && len(out) <= s.limit; {
		start, end := find(from)
		if start < 0 {
			break
		}
		begin := strings.LastIndexByte(text[:start], '\n') + 1
		whole, next := lineAt(text, begin)
		line += strings.Count(text[counted:begin], "\n")
		counted = begin
		m := Match{
			Path: path.String(), Line: line,
			Column: utf8.RuneCountInString(text[begin:start]) + 1,
			Text:   excerpt(whole, start-begin, end-begin),
		}
		if last := len(out) - 1; last >= 0 {
			out[last].After, shown = linesAfter(text, shown, begin, s.linesAround(last))
		}
		m.Before = linesBefore(text, shown, begin, s.linesAround(len(out)))
		shown = next
		out = append(out, m)
		from = next
	}
	if last := len(out) - 1; last >= 0 {
		out[last].After, _ = linesAfter(text, shown, len(text), s.linesAround(last))
	}
	return out, ctx.Err()
}

// linesAround is how many lines to show around the match with this index.
func (s *search) linesAround(index int) int {
	switch {
	case s.context != AutoContext:
		return s.context
	case index >= autoMatches:
		return 0 // so many that none will be shown
	}
	return autoLines
}

// linesBefore gives the last n lines of text[from:to], which ends with a line end.
func linesBefore(text string, from, to, n int) []string {
	var out []string
	begin := to
	for ; n > 0 && begin > from; n-- {
		begin = strings.LastIndexByte(text[:begin-1], '\n') + 1
	}
	for begin < to {
		line, next := lineAt(text, begin)
		out = append(out, excerpt(line, 0, 0))
		begin = next
	}
	return out
}

// linesAfter gives the first n lines of text[from:to] and where they end.
func linesAfter(text string, from, to, n int) (lines []string, end int) {
	for ; n > 0 && from < to; n-- {
		line, next := lineAt(text, from)
		lines = append(lines, excerpt(line, 0, 0))
		from = next
	}
	return lines, from
}

// excerpt is the line, or so much of it around line[start:end] as is worth
// showing. The copy keeps the file's text from being held by a result.
func excerpt(line string, start, end int) string {
	if len(line) <= longestLine || utf8.RuneCountInString(line) <= longestLine {
		return strings.ToValidUTF8(strings.Clone(line), "\ufffd")
	}
	from := runesBack(line, start, leadIn)
	if room := longestLine - utf8.RuneCountInString(line[from:]); room > 0 {
		from = runesBack(line, from, room) // the line ends soon: show more before
	}
	to := from
	for range longestLine {
		_, size := utf8.DecodeRuneInString(line[to:])
		to += size
	}
	var out strings.Builder
	if from > 0 {
		out.WriteString("…")
	}
	out.WriteString(strings.ToValidUTF8(line[from:to], "\ufffd"))
	if to < len(line) {
		out.WriteString("…")
	}
	return out.String()
}

// runesBack goes n characters back from the byte at.
func runesBack(line string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(line[:at])
		at -= size
	}
	return at
}
