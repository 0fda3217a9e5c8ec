package tools

import (
	"fmt"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// span is a part of a text, in bytes.
type span struct{ start, end int }

// occurrences are the places where a text was found, and how leniently.
type occurrences struct {
	spans    []span
	leniency string // empty: exactly
	// indent maps the indentation that the agent wrote to the file's own.
	indent map[string]string
}

// findText looks for old in text: as it is, else up to line ends and trailing
// blanks, else, as whole lines in one place only, up to indentation. It never
// guesses by similarity.
func findText(text, old string) occurrences {
	if spans := findAll(text, old); spans != nil {
		return occurrences{spans: spans}
	}
	plainText, at := withoutTrailing(text)
	plainOld, _ := withoutTrailing(old)
	if strings.Trim(plainOld, "\n") != "" {
		if spans := findAll(plainText, plainOld); spans != nil {
			for i, s := range spans {
				spans[i] = span{at[s.start], at[s.end]}
			}
			return occurrences{spans: spans, leniency: "up to line ends and trailing blanks"}
		}
	}
	return findIndented(text, old)
}

func findAll(text, old string) []span {
	var out []span
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return out
		}
		out = append(out, span{from + i, from + i + len(old)})
		from += i + len(old)
	}
}

// withoutTrailing drops blanks and carriage returns before each newline and at
// the end. at maps each offset of the result, its end included, to text's.
func withoutTrailing(text string) (plain string, at []int) {
	var out strings.Builder
	for start := 0; start < len(text); {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		kept := strings.TrimRight(text[start:end], " \t\r")
		for i := range len(kept) {
			at = append(at, start+i)
		}
		out.WriteString(kept)
		if end < len(text) {
			out.WriteByte('\n')
			at = append(at, start+len(kept)) // a match that ends before the newline ends before the blanks
		}
		start = end + 1
	}
	return out.String(), append(at, len(text))
}

// findIndented compares whole lines without their indentation, and counts only
// if there is one place.
func findIndented(text, old string) occurrences {
	want := trimmedLines(old)
	if len(want) == 0 {
		return occurrences{}
	}
	lines := strings.SplitAfter(text, "\n")
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
		matched := text[found[0].start:found[0].end]
		found[0].end -= len(matched) - len(strings.TrimRight(matched, "\r\n"))
	}
	return occurrences{spans: found, leniency: "up to indentation", indent: indent}
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

// replace puts text in every place, with the line ends of its surroundings.
func (o occurrences) replace(in, text string) string {
	if o.indent != nil {
		text = o.reindent(text)
	}
	var out strings.Builder
	last := 0
	for _, s := range o.spans {
		out.WriteString(in[last:s.start])
		out.WriteString(withLineEnds(in, s, text))
		last = s.end
	}
	out.WriteString(in[last:])
	return out.String()
}

func (o occurrences) reindent(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue // no line of its own after the last newline, and blank lines stay blank
		}
		old := o.knownIndent(splitIndent(line).indent)
		if now, ok := o.indent[old]; ok {
			lines[i] = now + line[len(old):]
		}
	}
	return strings.Join(lines, "")
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

// withLineEnds writes the newlines of text as the lines around s end.
func withLineEnds(in string, s span, text string) string {
	if strings.Contains(text, "\r") || !strings.Contains(text, "\n") {
		return text
	}
	if place := in[s.start:s.end]; strings.Contains(place, "\n") {
		return document.RestoreLineEnds(place, text)
	}
	end := strings.IndexByte(in[s.start:], '\n')
	if end >= 0 {
		end += s.start
	} else {
		end = strings.LastIndexByte(in[:s.start], '\n')
	}
	if end > 0 && in[end-1] == '\r' {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (o occurrences) lines(text string) []int {
	out := make([]int, len(o.spans))
	for i, s := range o.spans {
		out[i] = 1 + strings.Count(text[:s.start], "\n")
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

func joinInts(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
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
