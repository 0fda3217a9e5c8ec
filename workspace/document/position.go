package document

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"pillion/workspace/diff"
)

// Position is a place in text as LSP counts: both from 0, characters in UTF-16
// code units, lines ended by "\n", "\r\n" or "\r".
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Compare puts places in the order of a text.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.Line, other.Line), cmp.Compare(p.Character, other.Character))
}

// Range is the text from Start up to End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Compare puts ranges in the order of their starts, then of their ends.
func (r Range) Compare(other Range) int {
	return cmp.Or(r.Start.Compare(other.Start), r.End.Compare(other.End))
}

// TextEdit replaces a Range. Edits of one list do not overlap and all count in
// the text before any of them.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// Offset is the byte offset of pos in text. As LSP asks, a character beyond the
// end of its line is the end of the line, and a line beyond the text its end.
func Offset(text string, pos Position) int {
	start := 0
	for line := uint32(0); line < pos.Line; line++ {
		n := LineBreak(text[start:])
		if n < 0 {
			return len(text)
		}
		start += n
	}
	units := uint32(0)
	for i, r := range text[start:] {
		if units >= pos.Character || r == '\n' || r == '\r' {
			return start + i
		}
		units += utf16Units(r)
	}
	return len(text)
}

// Lines are the lines of text that positions count, without their ends. A text that
// ends with a line break has an empty one behind it.
func Lines(text string) []string {
	if strings.IndexByte(text, '\r') < 0 {
		return strings.Split(text, "\n")
	}
	var out []string
	for {
		n := LineBreak(text)
		if n < 0 {
			return append(out, text)
		}
		out = append(out, strings.TrimRight(text[:n], "\r\n"))
		text = text[n:]
	}
}

// Line is a line of text, as Lines gives them; ok is false where text has fewer.
func Line(text string, line int) (content string, ok bool) {
	for ; line > 0; line-- {
		n := LineBreak(text)
		if n < 0 {
			return "", false
		}
		text = text[n:]
	}
	if n := LineBreak(text); n >= 0 {
		text = strings.TrimRight(text[:n], "\r\n")
	}
	return text, true
}

// Units is the length of a line as positions count it.
func Units(line string) uint32 {
	units := uint32(0)
	for _, r := range line {
		units += utf16Units(r)
	}
	return units
}

// LineBreak is the length of the first line with its end, or -1 without one.
func LineBreak(s string) int {
	for i := plainStart(s); i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i + 1
		case s[i] == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			return i + 2
		case s[i] == '\r':
			return i + 1
		}
	}
	return -1
}

// plainStart is how much of the beginning of s surely has no line end: it looks at
// eight bytes at a time.
func plainStart(s string) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		word := eight(s[i : i+8])
		feed, carriage := word^(ones*'\n'), word^(ones*'\r') // zero where the byte is
		if ((feed-ones)&^feed|(carriage-ones)&^carriage)&tops != 0 {
			break
		}
	}
	return i
}

// eight are the first eight bytes of s as one number, which compilers read at once.
func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func utf16Units(r rune) uint32 {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Apply replaces the range of one change, as textDocument/didChange sends it.
func Apply(text string, r Range, newText string) string {
	start, end := Offset(text, r.Start), Offset(text, r.End)
	if end < start {
		start, end = end, start
	}
	return text[:start] + newText + text[end:]
}

// Edits are the smallest edits, line by line and trimmed to the characters that
// differ, that turn before into after. Small edits leave the user's cursor,
// folds and marks where they are.
func Edits(before, after string) []TextEdit {
	old, now := diff.SplitLines(before), diff.SplitLines(after)
	oldAt, newAt := offsets(old), offsets(now)
	c := cursor{text: before}
	var out []TextEdit
	for _, e := range diff.Lines(old, now) {
		start, end := oldAt[e.OldStart], oldAt[e.OldEnd]
		from, to, text := Span(before[start:end], after[newAt[e.NewStart]:newAt[e.NewEnd]])
		out = append(out, TextEdit{Range{c.position(start + from), c.position(start + to)}, text})
	}
	return out
}

// Span is the one replacement that makes after of before: the bytes from start up to
// end become text. No character and no line end is cut in two.
func Span(before, after string) (start, end int, text string) {
	start = commonPrefix(before, after)
	text = after[start:]
	suffix := commonSuffix(before[start:], text)
	return start, len(before) - suffix, text[:len(text)-suffix]
}

func offsets(lines []string) []int {
	out := make([]int, len(lines)+1)
	for i, line := range lines {
		out[i+1] = out[i] + len(line)
	}
	return out
}

// cursor turns growing byte offsets into positions in one pass.
type cursor struct {
	text      string
	lineStart int
	line      uint32
}

func (c *cursor) position(offset int) Position {
	for {
		n := LineBreak(c.text[c.lineStart:])
		if n < 0 || c.lineStart+n > offset {
			break
		}
		c.lineStart += n
		c.line++
	}
	return Position{c.line, Units(c.text[c.lineStart:offset])}
}

// commonPrefix never cuts a character, nor a "\r\n", in two.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n]) || a[n-1] == '\r') {
		n--
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && (!utf8.RuneStart(a[len(a)-n]) || a[len(a)-n] == '\n') {
		n--
	}
	return n
}
