// Package match finds what an edit means: the place in a file of a text that an agent
// wrote from memory. Text looks for it, exactly at first and then more leniently, and
// never by similarity; Found.Replace puts another text there, with the line ends and the
// indentation of its surroundings. Deliberately not here: how many places there should
// be, and files.
package match

import (
	"strings"

	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Found is the places where a text was found, and how leniently.
type Found struct {
	Spans    []Span // they do not overlap
	Twin     *Span  // one that overlaps the first, where that is the only one
	Leniency string // empty: exactly
	old      string // what was sought
	// indent maps the indentation that the agent wrote to the file's own.
	indent map[string]string
}

// How lenient a match was.
const (
	UpToBlanks      = "except for line ends and trailing white space"
	UpToIndentation = "except for indentation"
)

// Text looks for old in text: as it is, else up to line ends and trailing
// blanks, else, as whole lines in one place only, up to indentation. It never
// guesses by similarity.
func Text(text, old string) Found {
	if found := findExact(text, old); found.Spans != nil {
		return found
	}
	if document.OnlyReturns(text) && strings.Contains(old, "\n") {
		found := findExact(text, strings.ReplaceAll(old, "\n", "\r"))
		if found.Spans != nil {
			found.old, found.Leniency = old, UpToBlanks
			return found
		}
	}
	if found := findTrimmed(text, old); found.Spans != nil {
		return found
	}
	return findIndented(text, old)
}

func findExact(text, old string) Found {
	var all []Span
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		all = append(all, Span{from + i, from + i + len(old)})
		from += i + len(old)
	}
	found := Found{Spans: all, old: old}
	if len(all) == 1 {
		first, last := all[0].Start+1, min(len(text), all[0].End+len(old)-1) // further on there is none
		if i := strings.Index(text[first:last], old); i >= 0 {
			found.Twin = &Span{first + i, first + i + len(old)}
		}
	}
	return found
}

// apart makes Found of places in order, some of which may overlap.
func apart(places []Span) Found {
	var found Found
	for i, s := range places {
		switch n := len(found.Spans); {
		case n == 0 || found.Spans[n-1].End <= s.Start:
			found.Spans = append(found.Spans, s)
		case n == 1:
			found.Twin = &places[i]
		}
	}
	if len(found.Spans) > 1 {
		found.Twin = nil
	}
	return found
}

const blanks = " \t\r"

// findTrimmed compares without blanks and carriage returns at the ends of lines. The
// first line of old may begin, and the last may end, within a line of text; but not
// where old goes on with blanks, which are none at the end of a line then.
func findTrimmed(text, old string) Found {
	want := strings.Split(old, "\n")
	last := len(want) - 1
	ends := strings.TrimRight(want[last], blanks) != want[last]
	empty := true
	for i := range want {
		want[i] = strings.TrimRight(want[i], blanks)
		empty = empty && want[i] == ""
	}
	if empty || last == 0 && !ends { // the latter is no Leniency
		return Found{}
	}
	lines := strings.SplitAfter(text, "\n")
	var places []Span
	for i, at := 0, 0; i+last < len(lines); i++ {
		if s, ok := matchTrimmed(lines[i:], want, ends); ok {
			places = append(places, Span{at + s.Start, at + s.End})
		}
		at += len(lines[i])
	}
	found := apart(places)
	found.old, found.Leniency = old, UpToBlanks
	return found
}

// matchTrimmed matches want with the first lines. ends: its last line must end there.
func matchTrimmed(lines, want []string, ends bool) (Span, bool) {
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
				return Span{}, false
			}
		case have[at:] != w:
			return Span{}, false
		}
		if i == last {
			return Span{start, size + at + len(w)}, true
		}
		size += len(lines[i])
	}
	return Span{}, false
}

// findIndented compares whole lines without their indentation, and counts only
// if there is one place.
func findIndented(text, old string) Found {
	want := trimmedLines(old)
	if len(want) == 0 {
		return Found{}
	}
	lines := diff.SplitLines(text)
	var found []Span
	var indent map[string]string
	offset := 0
	for i := range lines {
		if size, m := matchLines(lines[i:], want); m != nil {
			found, indent = append(found, Span{offset, offset + size}), m
		}
		offset += len(lines[i])
	}
	if len(found) != 1 {
		return Found{}
	}
	if !strings.HasSuffix(old, "\n") { // the last line's end was not part of it
		found[0].End -= len(document.LineEnd(text[found[0].Start:found[0].End]))
	}
	return Found{Spans: found, Leniency: UpToIndentation, old: old, indent: indent}
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
