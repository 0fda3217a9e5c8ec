package match

import (
	"strings"

	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// Size is about how large in is with text in all the places.
func (o Found) Size(in, text string) int64 {
	size := int64(len(in)) + int64(len(o.Spans))*int64(len(text))
	for _, s := range o.Spans {
		size -= int64(s.End - s.Start)
	}
	return size
}

// Replace puts text in every place, with the line ends of its surroundings: an agent whose own
// lines end in \r\n writes them so, whatever the file has. Only where text differs from what was
// sought in nothing else are they what it is about.
func (o Found) Replace(in, text string) string {
	if plain := withoutReturns(text); plain != withoutReturns(o.old) {
		text = plain
	}
	var out strings.Builder
	out.Grow(int(max(0, o.Size(in, text)))) // more where lines end in two characters
	last := 0
	ends := newLineEnds(in)
	for _, s := range o.Spans {
		out.WriteString(in[last:s.Start])
		if o.Leniency == "" {
			out.WriteString(ends.write(s, text))
		} else {
			out.WriteString(o.fit(ends, s, text))
		}
		last = s.End
	}
	out.WriteString(in[last:])
	return out.String()
}

// fit is text for a place that is not quite what was sought. Lines that text has from
// old stay as they stand in the place; others get its line ends and indentation.
func (o Found) fit(ends *lineEnds, s Span, text string) string {
	place, was, now := diff.SplitLines(ends.in[s.Start:s.End]), diff.SplitLines(o.old), diff.SplitLines(text)
	if len(place) != len(was) || strings.Contains(text, "\r") {
		return ends.write(s, text)
	}
	f := fitting{place: place, end: ends.at(s)}
	i, j := 0, 0
	for _, e := range append(diff.Lines(bodies(was), bodies(now)), diff.Edit{OldStart: len(was), OldEnd: len(was), NewStart: len(now), NewEnd: len(now)}) {
		for ; i < e.OldStart; i, j = i+1, j+1 {
			f.keep(i, now[j])
		}
		for ; j < e.NewEnd; j++ {
			f.add(min(i+j-e.NewStart, e.OldEnd-1), o.reindent(now[j]))
		}
		i = e.OldEnd
	}
	out := strings.Join(f.lines, "")
	if ended := strings.HasSuffix(o.old, "\n") && strings.HasSuffix(text, "\n"); ended && document.LineEnd(place[len(place)-1]) == "" {
		out = strings.TrimSuffix(out, document.LineEnd(out)) // the file has no final newline, and stays so
	}
	return out
}

// fitting is a text in the making, line by line.
type fitting struct {
	place []string
	end   string // where the place does not say
	lines []string
}

func (f *fitting) keep(i int, line string) {
	end := document.LineEnd(f.place[i])
	body := f.place[i][:len(f.place[i])-len(end)]
	f.lines = append(f.lines, body+f.endOf(i, line))
}

// add takes a new line, with the end of line i of the place.
func (f *fitting) add(i int, line string) {
	end := f.endOf(i, line)
	f.lines = append(f.lines, strings.TrimSuffix(line, "\n")+end)
}

func (f *fitting) endOf(i int, line string) string {
	if !strings.HasSuffix(line, "\n") {
		return ""
	}
	if i >= 0 {
		if end := document.LineEnd(f.place[i]); end != "" {
			return end
		}
	}
	return f.end
}

func withoutReturns(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func bodies(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, "\r\n")
	}
	return out
}

func (o Found) reindent(line string) string {
	if o.indent == nil || strings.TrimSpace(line) == "" {
		return line // blank lines stay blank
	}
	old := o.knownIndent(splitIndent(line).indent)
	if now, ok := o.indent[old]; ok {
		return now + line[len(old):]
	}
	return line
}

// knownIndent is the longest indentation of old_string that a line of new_string
// begins with; what is deeper stays relative to it.
func (o Found) knownIndent(indent string) string {
	best := ""
	for known := range o.indent {
		if len(known) > len(best) && strings.HasPrefix(indent, known) {
			best = known
		}
	}
	return best
}

// lineEnds tells how lines of a text end, at one place after the other.
type lineEnds struct {
	in          string
	onlyReturns bool
	next        int // the first newline behind the last place; len(in): there is none
	last        int // the last newline of all, -1 without any
}

func newLineEnds(in string) *lineEnds {
	return &lineEnds{in: in, onlyReturns: document.OnlyReturns(in), next: -1, last: strings.LastIndexByte(in, '\n')}
}

// write gives text with its newlines as the lines around s end.
func (l *lineEnds) write(s Span, text string) string {
	if strings.Contains(text, "\r") || !strings.Contains(text, "\n") {
		return text
	}
	if place := l.in[s.Start:s.End]; strings.Contains(place, "\n") {
		return document.RestoreLineEnds(place, text)
	}
	return strings.ReplaceAll(text, "\n", l.at(s))
}

// at is how the line at s ends, or, where it has no end, the one above it. Places come
// in order.
func (l *lineEnds) at(s Span) string {
	if l.onlyReturns {
		return "\r"
	}
	if l.next < s.Start {
		if l.next = strings.IndexByte(l.in[s.Start:], '\n'); l.next < 0 {
			l.next = len(l.in)
		} else {
			l.next += s.Start
		}
	}
	end := l.next
	if end == len(l.in) {
		end = l.last
	}
	if end > 0 && l.in[end-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
