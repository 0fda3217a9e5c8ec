package tools

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pillion/workspace/document"
)

// A page is how much text one result gives a model whose agent would cut a longer one
// without a word. Tools that can go on where they stopped (read_file, read_process,
// search_in_project, …) make pages themselves; of all others Result.page keeps the
// beginning and says so.

// pageLines is how many lines a page has at most: there are agents that cut results of 1,000
// lines (Qwen Code) or 2,000 (opencode).
const pageLines = 900

// page cuts the result's text to about limit bytes at the end of a line; 0 is no limit.
// rest is how to get what is left out.
func (r *Result) page(limit int, rest string) {
	if limit <= 0 {
		return
	}
	room := limit
	for i := range r.Content {
		p := &r.Content[i]
		if p.Type != "text" {
			continue
		}
		if size, kept := len(p.Text), firstLines(p.Text, room, pageLines); len(kept) < size {
			if rest == "" {
				rest = "ask for less at a time"
			}
			*p = Part{Type: "text", Text: fmt.Sprintf("%s\n(cut: %s of %s bytes; %s)", strings.TrimSuffix(kept, "\n"), grouped(len(kept)), grouped(size), rest)}
		}
		room = max(room-len(p.Text), limit/10) // notes come last and must not be lost
	}
}

// firstLines is the beginning of text: as many whole lines as limit bytes hold, or of a
// longer first line whole characters.
func firstLines(text string, limit, lines int) string {
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

// lastLines is the end of text, likewise.
func lastLines(text string, limit, lines int) string {
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

func fits(text string, limit int) bool {
	return len(text) <= limit && document.LineCount(text) <= pageLines
}

// ends keeps the beginning and the end of a text, which of a program's output say most.
func ends(text string, limit int) string {
	if fits(text, limit) {
		return text
	}
	head, tail := firstLines(text, limit/2, pageLines/2), lastLines(text, limit/2, pageLines/2)
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s(… %s bytes left out; to get them, run it again with its output in a file, or through grep, head or tail …)\n%s",
		head, grouped(len(text)-len(head)-len(tail)), tail)
}

// grouped writes a number as people read it: 3,000.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
