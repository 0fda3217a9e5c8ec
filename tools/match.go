package tools

import (
	"fmt"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// span is a part of a text, in bytes.
type span struct{ start, end int }

// occurrences are the places where a text was found, and how leniently.
type occurrences struct {
	spans    []span // they do not overlap
	twin     *span  // one that overlaps the first, where that is the only one
	leniency string // empty: exactly
	old      string // what was sought
	// indent maps the indentation that the agent wrote to the file's own.
	indent map[string]string
}

const (
	upToBlanks      = "up to line ends and trailing blanks"
	upToIndentation = "up to indentation"
)

// findText looks for old in text: as it is, else up to line ends and trailing
// blanks, else, as whole lines in one place only, up to indentation. It never
// guesses by similarity.
func findText(text, old string) occurrences {
	if found := findExact(text, old); found.spans != nil {
		return found
	}
	if document.OnlyReturns(text) && strings.Contains(old, "\n") {
		found := findExact(text, strings.ReplaceAll(old, "\n", "\r"))
		if found.spans != nil {
			found.old, found.leniency = old, upToBlanks
			return found
		}
	}
	if found := findTrimmed(text, old); found.spans != nil {
		return found
	}
	return findIndented(text, old)
}

func findExact(text, old string) occurrences {
	var all []span
	for from := 0; ; {
		i := index(text[from:], old)
		if i < 0 {
			break
		}
		all = append(all, span{from + i, from + i + len(old)})
		from += i + len(old)
	}
	found := occurrences{spans: all, old: old}
	if len(all) == 1 {
		first, last := all[0].start+1, min(len(text), all[0].end+len(old)-1) // further on there is none
		if i := strings.Index(text[first:last], old); i >= 0 {
			found.twin = &span{first + i, first + i + len(old)}
		}
	}
	return found
}

// apart makes occurrences of places in order, some of which may overlap.
func apart(places []span) occurrences {
	var found occurrences
	for i, s := range places {
		switch n := len(found.spans); {
		case n == 0 || found.spans[n-1].end <= s.start:
			found.spans = append(found.spans, s)
		case n == 1:
			found.twin = &places[i]
		}
	}
	if len(found.spans) > 1 {
		found.twin = nil
	}
	return found
}

const blanks = " \t\r"

// findTrimmed compares without blanks and carriage returns at the ends of lines. The
// first line of old may begin, and the last may end, within a line of text; but not
// where old goes on with blanks, which are none at the end of a line then.
func findTrimmed(text, old string) occurrences {
	want := strings.Split(old, "\n")
	last := len(want) - 1
	ends := strings.TrimRight(want[last], blanks) != want[last]
	empty := true
	for i := range want {
		want[i] = strings.TrimRight(want[i], blanks)
		empty = empty && want[i] == ""
	}
	if empty || last == 0 && !ends { // the latter is no leniency
		return occurrences{}
	}
	lines := strings.SplitAfter(text, "\n")
	var places []span
	for i, at := 0, 0; i+last < len(lines); i++ {
		if s, ok := matchTrimmed(lines[i:], want, ends); ok {
			places = append(places, span{at + s.start, at + s.end})
		}
		at += len(lines[i])
	}
	found := apart(places)
	found.old, found.leniency = old, upToBlanks
	return found
}

// matchTrimmed matches want with the first lines. ends: its last line must end there.
func matchTrimmed(lines, want []string, ends bool) (span, bool) {
	size, start, last := 0, 0, len(want)-1
	for i, w := range want {
		have := strings.TrimRight(lines[i], blanks+"\n")
		at := 0
		if i == 0 {
			at = max(0, len(have)-len(w)) // it ends with w, or w is all of it and more
			start = at
		}
		switch {
		case i == last && !ends:
			// Its blanks may be in the middle of want's line.
			have = strings.TrimRight(lines[i], "\n")
			if !strings.HasPrefix(have, w) {
				return span{}, false
			}
		case have[at:] != w:
			return span{}, false
		}
		if i == last {
			return span{start, size + at + len(w)}, true
		}
		size += len(lines[i])
	}
	return span{}, false
}

// findIndented compares whole lines without their indentation, and counts only
// if there is one place.
func findIndented(text, old string) occurrences {
	want := trimmedLines(old)
	if len(want) == 0 {
		return occurrences{}
	}
	lines := diff.SplitLines(text)
	var found []span
	var indent map[string]string
	offset := 0
	for i := range lines {
		if size, m := matchLines(lines[i:], want); m != nil {
			found, indent = append(found, span{offset, offset + size}), m
		}
		offset += len(lines[i])
	}
	if len(found) != 1 {
		return occurrences{}
	}
	if !strings.HasSuffix(old, "\n") { // the last line's end was not part of it
		found[0].end -= len(document.LineEnd(text[found[0].start:found[0].end]))
	}
	return occurrences{spans: found, leniency: upToIndentation, old: old, indent: indent}
}

type indentedLine struct{ indent, text string }

func splitIndent(line string) indentedLine {
	text := strings.TrimLeft(line, " \t")
	return indentedLine{line[:len(line)-len(text)], strings.TrimRight(text, " \t\r\n")}
}

func trimmedLines(s string) []indentedLine {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var out []indentedLine
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		out = append(out, splitIndent(line))
	}
	return out
}

// matchLines matches the first lines with want and learns how their indentation
// maps. It gives nil where they do not match.
func matchLines(lines []string, want []indentedLine) (size int, indent map[string]string) {
	if len(lines) < len(want) {
		return 0, nil
	}
	indent = map[string]string{}
	for i, w := range want {
		have := splitIndent(lines[i])
		if have.text != w.text {
			return 0, nil
		}
		size += len(lines[i])
		if _, known := indent[w.indent]; !known && w.text != "" {
			indent[w.indent] = have.indent
		}
	}
	return size, indent
}

// size is about how large in is with text in all the places.
func (o occurrences) size(in, text string) int64 {
	size := int64(len(in)) + int64(len(o.spans))*int64(len(text))
	for _, s := range o.spans {
		size -= int64(s.end - s.start)
	}
	return size
}

// replace puts text in every place, with the line ends of its surroundings.
func (o occurrences) replace(in, text string) string {
	var out strings.Builder
	out.Grow(int(max(0, o.size(in, text)))) // more where lines end in two characters
	last := 0
	ends := newLineEnds(in)
	for _, s := range o.spans {
		out.WriteString(in[last:s.start])
		if o.leniency == "" {
			out.WriteString(ends.write(s, text))
		} else {
			out.WriteString(o.fit(ends, s, text))
		}
		last = s.end
	}
	out.WriteString(in[last:])
	return out.String()
}

// fit is text for a place that is not quite what was sought. Lines that text has from
// old stay as they stand in the place; others get its line ends and indentation.
func (o occurrences) fit(ends *lineEnds, s span, text string) string {
	place, was, now := diff.SplitLines(ends.in[s.start:s.end]), diff.SplitLines(o.old), diff.SplitLines(text)
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

func bodies(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, "\r\n")
	}
	return out
}

func (o occurrences) reindent(line string) string {
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
func (o occurrences) knownIndent(indent string) string {
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
func (l *lineEnds) write(s span, text string) string {
	if strings.Contains(text, "\r") || !strings.Contains(text, "\n") {
		return text
	}
	if place := l.in[s.start:s.end]; strings.Contains(place, "\n") {
		return document.RestoreLineEnds(place, text)
	}
	return strings.ReplaceAll(text, "\n", l.at(s))
}

// at is how the line at s ends, or, where it has no end, the one above it. Places come
// in order.
func (l *lineEnds) at(s span) string {
	if l.onlyReturns {
		return "\r"
	}
	if l.next < s.start {
		if l.next = strings.IndexByte(l.in[s.start:], '\n'); l.next < 0 {
			l.next = len(l.in)
		} else {
			l.next += s.start
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

// maxPlaces is how many places are told of.
const maxPlaces = 100

func (o occurrences) lines(text string) []int {
	out := make([]int, min(len(o.spans), maxPlaces))
	line, at := 1, 0
	for i, s := range o.spans[:len(out)] {
		line += strings.Count(text[at:s.start], "\n")
		out[i], at = line, s.start
	}
	return out
}

// context shows the first places, so that the agent can tell them apart.
func (o occurrences) context(text string) []string {
	var out []string
	shown := 0
	for _, line := range o.lines(text)[:min(len(o.spans), 5)] {
		out = append(out, showLines(text, max(shown+1, line-1), line+1)...)
		shown = line + 1
	}
	return out
}

// joinInts lists the first of n numbers.
func joinInts(list []int, n int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	if more := n - len(list); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	return strings.Join(out, ", ")
}

// noMatch shows the lines of text that look most like the ones that were sought.
func noMatch(text, old string) error {
	err := fault.New(fault.EditNoMatch, "old_string is not in the file")
	line := nearestLine(text, old)
	if line == 0 {
		return err.WithHint("read the file again and copy the text as it stands there")
	}
	nearest := showLines(text, line-2, line+strings.Count(strings.TrimSuffix(old, "\n"), "\n")+2)
	return err.With("nearest", nearest).
		WithHint("the nearest lines are (· is a blank, → a tab, ␍ a carriage return):\n%s", strings.Join(nearest, "\n"))
}

// nearestLine is the line most like the longest line of old, 0 if none is like it.
func nearestLine(text, old string) int {
	probe, above := "", 0
	for i, line := range strings.Split(old, "\n") {
		if trimmed := strings.TrimSpace(line); len(trimmed) > len(probe) {
			probe, above = trimmed, i
		}
	}
	best, bestScore := 0, 0.5
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if score := similarity(clip(strings.TrimSpace(line), 500), clip(probe, 500)); score > bestScore {
			best, bestScore = n, score
		}
	}
	return max(min(best, 1), best-above)
}

// showLines gives lines first to last, numbered, with white space made visible.
func showLines(text string, first, last int) []string {
	visible := strings.NewReplacer(" ", "·", "\t", "→", "\r", "␍")
	var out []string
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if n++; n > last {
			break
		}
		if n >= first {
			out = append(out, fmt.Sprintf("%5d  %s", n, fault.Escape(visible.Replace(clip(line, 300)))))
		}
	}
	return out
}
