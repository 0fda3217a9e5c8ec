package diff

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"znkr.io/diff/textdiff"
)

// Op says what becomes of a line of a hunk.
type Op byte

// The operations, as a unified diff writes them.
const (
	Context Op = ' '
	Delete  Op = '-'
	Insert  Op = '+'
)

// Line is one line of a hunk. Text includes its line end; the last line of a
// file may have none.
type Line struct {
	Op   Op
	Text string
}

// Hunk is a run of changes with the lines around them. OldStart and NewStart
// are the numbers that its header shows: the first line, counted from 1, or,
// where the hunk has no line on that side, the line before.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Section            string // the heading the hunk stands under, such as a function's first line
	Lines              []Line
}

// Header is the hunk's "@@" line as git prints it, without a line end.
func (h Hunk) Header() string {
	return string(h.appendHeader(make([]byte, 0, longestHeader)))
}

// longestHeader is enough for any header, but for one of more lines than a text can have.
const longestHeader = 128

func (h Hunk) appendHeader(to []byte) []byte {
	to = appendSpan(append(to, "@@ -"...), h.OldStart, h.OldLines)
	to = appendSpan(append(to, " +"...), h.NewStart, h.NewLines)
	to = append(to, " @@"...)
	if h.Section != "" {
		to = append(append(to, ' '), h.Section...)
	}
	return to
}

func appendSpan(to []byte, start, lines int) []byte {
	to = strconv.AppendInt(to, int64(start), 10)
	if lines == 1 {
		return to
	}
	return strconv.AppendInt(append(to, ','), int64(lines), 10)
}

// Hunks compares two texts and returns their changes, each with so many lines
// of context; changes whose context would touch share a hunk. A change that could be shown in several
// places that mean the same is shown where its indentation makes it easiest to read.
func Hunks(before, after string, context int) []Hunk {
	if before == after {
		return nil
	}
	const around = 100 // more lines than decide where a change is shown
	old, changed := SplitLines(before), SplitLines(after)
	start, end := same(old, changed, around)
	x, y := old[start:len(old)-end], changed[start:len(changed)-end]
	var edits []Edit
	for _, h := range textdiff.Hunks(strings.Join(x, ""), strings.Join(y, ""), append(options(x, y), textdiff.IndentHeuristic())...) {
		edits = append(edits, Edit{start + h.LineNoX, start + h.EndLineNoX, start + h.LineNoY, start + h.EndLineNoY})
	}
	context = min(max(context, 0), max(len(old), len(changed)))
	headings := headings{lines: old}
	out := make([]Hunk, 0, len(edits))
	for len(edits) > 0 {
		group := 1
		for group < len(edits) && edits[group].OldStart-edits[group-1].OldEnd <= 2*context {
			group++
		}
		h := hunk(old, changed, edits[:group], context)
		h.Section = headings.before(edits[0].OldStart - min(context, edits[0].OldStart))
		out = append(out, h)
		edits = edits[group:]
	}
	return out
}

func hunk(old, changed []string, edits []Edit, context int) Hunk {
	first, last := edits[0], edits[len(edits)-1]
	before := min(context, first.OldStart)
	after := min(context, len(old)-last.OldEnd)
	h := Hunk{
		OldStart: first.OldStart - before, OldLines: last.OldEnd + after - (first.OldStart - before),
		NewStart: first.NewStart - before, NewLines: last.NewEnd + after - (first.NewStart - before),
	}
	size := h.OldLines
	for _, e := range edits {
		size += e.NewEnd - e.NewStart
	}
	h.Lines = make([]Line, 0, size)
	at := h.OldStart
	for _, e := range edits {
		h.add(Context, old[at:e.OldStart])
		h.add(Delete, old[e.OldStart:e.OldEnd])
		h.add(Insert, changed[e.NewStart:e.NewEnd])
		at = e.OldEnd
	}
	h.add(Context, old[at:at+after])
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
	return h
}

func (h *Hunk) add(op Op, lines []string) {
	for _, line := range lines {
		h.Lines = append(h.Lines, Line{op, line})
	}
}

// headings finds the last heading above a line, for lines in rising order.
type headings struct {
	lines []string
	next  int
	last  string
}

func (h *headings) before(line int) string {
	for ; h.next < line; h.next++ {
		if text := h.lines[h.next]; startsHeading(text) {
			h.last = shortened(text)
		}
	}
	return h.last
}

// startsHeading is git's rule for files of which it knows nothing else.
func startsHeading(line string) bool {
	if line == "" {
		return false
	}
	c := line[0]
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// shortened cuts a heading to git's 80 bytes, but never inside a character.
func shortened(heading string) string {
	const most = 80
	if len(heading) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(heading[end]) {
			end--
		}
		heading = heading[:end]
	}
	return strings.TrimRight(heading, " \t\r\n\v\f")
}

// Unified writes hunks in the format of git diff and patch, without the lines
// that name the files.
func Unified(hunks []Hunk) string {
	const noNewline = "\n\\ No newline at end of file\n"
	size := 0
	for _, h := range hunks {
		size += longestHeader + len(h.Lines)
		for _, line := range h.Lines {
			size += len(line.Text)
		}
	}
	var out strings.Builder
	out.Grow(size + 2*len(noNewline))
	header := make([]byte, 0, longestHeader)
	for _, h := range hunks {
		header = append(h.appendHeader(header[:0]), '\n')
		out.Write(header)
		for _, line := range h.Lines {
			out.WriteByte(byte(line.Op))
			out.WriteString(line.Text)
			if !strings.HasSuffix(line.Text, "\n") {
				out.WriteString(noNewline)
			}
		}
	}
	return out.String()
}

// Count returns how many lines hunks add and delete.
func Count(hunks []Hunk) (additions, deletions int) {
	for _, h := range hunks {
		for _, line := range h.Lines {
			switch line.Op {
			case Insert:
				additions++
			case Delete:
				deletions++
			}
		}
	}
	return additions, deletions
}
