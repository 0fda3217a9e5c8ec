package mcp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// columns are those of a line that every form has in a terminal of 80.
const columns = 72

// titleColumns are those of a choice in Claude Code, which cuts longer ones. A rule that
// cannot be read whole is not offered.
const titleColumns = 45

// descriptionColumns are those of the line below a choice, likewise.
const descriptionColumns = 68

// screen is what the form of an agent shows of a message in a terminal of 80 by 24; no key shows
// more.
type screen struct {
	lines int
	wraps bool // a long line; otherwise its end is cut off
}

// question puts a request into words, in as many forms as it takes: what would happen comes
// first, and why it is asked beside the choice where that is a short line.
func question(r approval.Request, on screen) (pages []string, why string) {
	var out strings.Builder
	preview(&out, r.Preview)
	if r.Preview.Kind != "diff" && r.Preview.Kind != "command" {
		out.WriteString(r.Title + "\n")
	}
	why = reasons(r)
	if len(why) > descriptionColumns {
		out.WriteString(why + "\n")
		why = ""
	}
	return on.pages(fault.Escape(out.String())), why
}

func reasons(r approval.Request) string {
	var out []string
	for _, reason := range r.Reasons {
		out = append(out, reason.Text)
	}
	return strings.Join(out, "; ")
}

// preview is what would happen: of files the lines that change, and every fact but what is nearly always so, and how a
// command line is read, which it says itself.
func preview(out *strings.Builder, p approval.Preview) {
	for _, f := range p.Files {
		if f.Note != "" {
			f.Deed += ", " + fault.Line(f.Note)
		}
		fmt.Fprintf(out, "%s, +%d -%d\n", f.Deed, f.Additions, f.Deletions)
		for _, fact := range f.Facts {
			out.WriteString(fact.String() + "\n")
		}
		if f.Text {
			out.WriteString(changedLines(f.Diff) + "\n")
		}
	}
	p.Files = nil
	p.Facts = slices.DeleteFunc(slices.Clone(p.Facts), func(f approval.Fact) bool { return f.Tone == approval.Muted || f.Code == "parts" })
	out.WriteString(p.Text())
}

// changedLines leaves out what a form has no room for: everything but the lines that change
// and, where they are in several places, where each is.
func changedLines(diff string) string {
	head, hunks, found := strings.Cut(diff, "\n@@ ")
	if !found || strings.Contains(head, "old mode") {
		return diff
	}
	var changed []string
	places, at, unchanged := 0, 0, true
	for line := range strings.Lines("@@ " + hunks) {
		kind := line[0]
		line = strings.TrimSuffix(line, "\n")
		switch kind {
		case '@':
			_, after, _ := strings.Cut(line, " +")
			at, _ = strconv.Atoi(after[:strings.IndexAny(after, ", ")])
			unchanged = true
		case ' ', '\n':
			at++
			unchanged = true
		case '\\': // no newline at the end of the line above
			if !unchanged {
				changed = append(changed, line)
			}
		default:
			if unchanged {
				changed = append(changed, fmt.Sprintf("line %d:", at))
				places++
				unchanged = false
			}
			changed = append(changed, line)
			if kind == '+' {
				at++
			}
		}
	}
	if places == 1 {
		changed = changed[1:]
	}
	return strings.Join(changed, "\n")
}

// pages are a text as forms show it, one after the other.
func (on screen) pages(text string) (out []string) {
	text = strings.TrimRight(text, "\n")
	if on.wraps && on.holds(text) {
		return []string{text}
	}
	for page := range slices.Chunk(strings.Split(broken(text), "\n"), on.lines) {
		out = append(out, strings.Join(page, "\n"))
	}
	return out
}

// holds counts what a terminal makes of a text.
func (on screen) holds(text string) bool {
	for line := range strings.Lines(text) {
		on.lines--
		if width := widthOf(line); width > columns {
			on.lines -= 2 * width / columns // breaking at words can leave half of each line empty
		}
	}
	return on.lines >= 0
}

// broken has no line that is wider than a form; what goes on is marked.
func broken(text string) string {
	const goesOn = "↪ "
	var out strings.Builder
	for line := range strings.Lines(text) {
		width := 0
		for _, c := range line {
			if width += widthOf(string(c)); width > columns && c != '\n' {
				out.WriteString("\n" + goesOn)
				width = widthOf(goesOn) + widthOf(string(c))
			}
			out.WriteRune(c)
		}
	}
	return out.String()
}

// widthOf is never less than what a terminal gives a text.
func widthOf(text string) int {
	width := 0
	for _, c := range text {
		switch {
		case c == '\n':
		case c == '\t':
			width += 8
		case c > '~':
			width += 2
		default:
			width++
		}
	}
	return width
}
