package tools

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// FirstLine is the first line of a text, without the blanks in front of it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// QuoteAll quotes each name with fault.Quote.
func QuoteAll(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, fault.Quote(name))
	}
	return out
}

// PageLines is how many lines a page has at most: there are agents that cut results of 1,000
// lines (Qwen Code) or 2,000 (opencode).
const PageLines = 900

// FirstLines is the beginning of text: as many whole lines as limit bytes hold, or of a
// longer first line whole characters.
func FirstLines(text string, limit, lines int) string {
	text = document.LineRange(text, 1, lines)
	if len(text) <= limit {
		return text
	}
	if end := strings.LastIndexByte(text[:limit], '\n'); end >= 0 {
		return text[:end+1]
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// LastLines is the end of text, likewise.
func LastLines(text string, limit, lines int) string {
	if n := document.LineCount(text); n > lines {
		text = document.LineRange(text, n-lines+1, n)
	}
	if len(text) <= limit {
		return text
	}
	tail := text[len(text)-limit:]
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < len(tail)-1 {
		return tail[at+1:]
	}
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return tail
}

// FitsPage reports whether a text of at most limit bytes has no more lines than a page.
func FitsPage(text string, limit int) bool {
	return len(text) <= limit && document.LineCount(text) <= PageLines
}

// HeadAndTail keeps the beginning and the end of a text, which of a program's output say most.
func HeadAndTail(text string, limit int) string {
	if FitsPage(text, limit) {
		return text
	}
	head, tail := FirstLines(text, limit/2, PageLines/2), LastLines(text, limit/2, PageLines/2)
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s(… %s bytes left out; to get them, run it again with its output in a file, or through grep, head or tail …)\n%s",
		head, Grouped(len(text)-len(head)-len(tail)), tail)
}

// Grouped writes a number as people read it: 3,000.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// MaxMessage is the contract's limit for text that is shown to the user.
const MaxMessage = 10_000

// Count is how many there are of something, in words: 1 file, 3,000 files.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Grouped(n) + " " + what + "s"
}
