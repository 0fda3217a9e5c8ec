package rpc

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pillion/internal/fault"
)

// terminalText is what a program printed for a terminal, as far as an editor may show it:
// text, colours, moves of the cursor, and erasing. A terminal also obeys sequences that change
// its title, fill the clipboard, type answers back into the program or show a link that leads
// elsewhere; none of these passes. What turns the order of a line around is written out, and a
// sequence is never split between two pieces.
type terminalText struct{ rest string }

// longestString is how far a title or clipboard may go on: one that does not end by then was none.
const longestString = 4096

func (t *terminalText) take(text string) string {
	text, t.rest = t.rest+text, ""
	var out strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			at = len(text)
		}
		out.WriteString(plainText(text[:at]))
		if text = text[at:]; text == "" {
			break
		}
		shown, size := sequence(text)
		if size == 0 {
			t.rest = text
			break
		}
		out.WriteString(shown)
		text = text[size:]
	}
	return out.String()
}

// plainText has no controls but line feed, return, tab and backspace.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\v', r == '\f':
			return '\n'
		case r == '\n', r == '\r', r == '\t', r == '\b':
			return r
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, turning.ReplaceAllStringFunc(text, fault.Escape))
}

// turning are right-to-left marks, overrides and isolates, interlinear marks, tags, and
// separators of lines and paragraphs.
var turning = regexp.MustCompile(`[\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{fff9}-\x{fffb}\x{e0000}-\x{e007f}]`)

var (
	control = regexp.MustCompile(`^\x1b\[([0-?]*)([ -/]*)([@-~])?`)
	short   = regexp.MustCompile(`^\x1b[ -/]*([0-~])?`)
	// strings that end at BEL, CAN, SUB, ST, the next sequence, or the line: no more can be hidden by one.
	ends = regexp.MustCompile("[\a\x18\x1a\x1b\n]|\u009c")
)

// sequence is what of the one at the start of text is shown, and how long it is: 0 while it
// is incomplete.
func sequence(text string) (shown string, size int) {
	if len(text) == 1 {
		return "", 0
	}
	switch text[1] {
	case '[':
		return controlSequence(text)
	case ']', 'P', 'X', '^', '_':
		return "", stringEnd(text)
	}
	m := short.FindStringSubmatch(text)
	if m[1] == "" && len(m[0]) == len(text) {
		return "", 0
	}
	return "", len(m[0])
}

func controlSequence(text string) (shown string, size int) {
	const longest = 64
	m := control.FindStringSubmatch(text[:min(len(text), longest)])
	switch size = len(m[0]); {
	case m[3] == "" && size == len(text) && size < longest:
		return "", 0
	case m[3] == "", m[2] != "", strings.ContainsAny(m[1], "<=>?"):
		return "", size // broken off, or private
	case m[3] == "m":
		return colours(m[1]), size
	case strings.Contains("ABCDEFGHJKdf", m[3]) && !(m[3] == "J" && m[1] == "3"): // 3J erases what scrolled away
		return "\x1b[" + bounded(m[1]) + m[3], size
	}
	return "", size
}

// bounded has no number that a screen has no use for.
func bounded(parameters string) string {
	const largest = 9999
	numbers := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(numbers) == 0 {
		return parameters
	}
	out := strings.Split(strings.ReplaceAll(parameters, ":", ";"), ";")
	for i, n := range out {
		if value, err := strconv.Atoi(n); n != "" && (err != nil || value > largest) {
			out[i] = strconv.Itoa(largest)
		}
	}
	return strings.Join(out, ";")
}

// colours are those of Select Graphic Rendition, without blinking (5, 6) and without text
// that cannot be seen (8).
func colours(parameters string) string {
	codes := strings.Split(parameters, ";")
	var kept []string
	for i := 0; i < len(codes); i++ {
		code := strings.TrimLeft(strings.SplitN(codes[i], ":", 2)[0], "0")
		switch {
		case slices.Contains([]string{"38", "48", "58"}, codes[i]): // a colour of its own: its numbers belong to it
			length := 1
			if i+1 < len(codes) {
				length = map[string]int{"5": 3, "2": 5}[codes[i+1]]
			}
			end := min(i+max(length, 1), len(codes))
			kept = append(kept, codes[i:end]...)
			i = end - 1
		case code != "5" && code != "6" && code != "8":
			kept = append(kept, codes[i])
		}
	}
	if kept == nil {
		return ""
	}
	return "\x1b[" + strings.Join(kept, ";") + "m"
}

func stringEnd(text string) int {
	const start = 2
	m := ends.FindStringIndex(text[start:min(len(text), start+longestString)])
	switch {
	case m == nil && len(text) < start+longestString:
		return 0
	case m == nil:
		return start + longestString
	}
	at, end := start+m[0], start+m[1]
	switch {
	case text[at] == '\n':
		return at
	case text[at] != '\x1b':
		return end
	case end == len(text):
		return 0
	case text[end] == '\\':
		return end + 1
	}
	return at
}
