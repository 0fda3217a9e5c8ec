package patch

import (
	"strings"

	"pillion/workspace/diff"
)

// fitted is what a hunk leaves in its place. Lines that it does not change stay as they
// stand there. New ones come as the patch has them, where its lines are the place's to
// the character; else they end as the lines around them do.
func fitted(h Hunk, place, lines []string, at int, lenient bool) string {
	f := fitting{lenient: lenient, end: endAround(place, lines, at)}
	f.open = len(place) == 0 && at > 0 && !isEnded(lines[at-1]) // lines are added behind it
	added := f.open
	i := 0
	for _, line := range h.Lines {
		switch line.Op {
		case diff.Context:
			f.keep(place[i])
			i++
		case diff.Delete:
			f.endOf(place[i])
			i++
		case diff.Insert:
			f.add(line.Text)
		}
	}
	if at+len(place) < len(lines) { // more follows
		f.terminate()
		return f.out.String()
	}
	old, now := h.Old(), h.New()
	if added { // the file has no final newline, and stays so
		out := f.out.String()
		return strings.TrimSuffix(out, lineEnd(out))
	}
	if len(old) == 0 || len(now) == 0 {
		return f.out.String()
	}
	before, after := isEnded(old[len(old)-1]), isEnded(now[len(now)-1])
	if before == after { // the patch does not change how the file ends
		after = isEnded(place[len(place)-1])
	}
	if after {
		f.terminate()
		return f.out.String()
	}
	out := f.out.String()
	return strings.TrimSuffix(out, lineEnd(out))
}

func isEnded(line string) bool { return strings.HasSuffix(line, "\n") }

func lineEnd(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return ""
}

// endAround is how lines end in a place, or else above it, or else at all.
func endAround(place, lines []string, at int) string {
	for _, line := range place {
		if end := lineEnd(line); end != "" {
			return end
		}
	}
	for i := at - 1; i >= 0; i-- {
		if end := lineEnd(lines[i]); end != "" {
			return end
		}
	}
	for _, line := range lines {
		if end := lineEnd(line); end != "" {
			return end
		}
	}
	return "\n"
}

// fitting is the text of a place in the making.
type fitting struct {
	out     strings.Builder
	lenient bool
	end     string // of the lines around
	open    bool   // the last line has no end
}

func (f *fitting) write(line string) {
	f.terminate()
	f.out.WriteString(line)
	f.open = !isEnded(line)
}

func (f *fitting) terminate() {
	if f.open {
		f.out.WriteString(f.end)
		f.open = false
	}
}

func (f *fitting) keep(line string) {
	f.endOf(line)
	f.write(line)
}

func (f *fitting) endOf(line string) {
	if end := lineEnd(line); end != "" {
		f.end = end
	}
}

func (f *fitting) add(line string) {
	if end := lineEnd(line); f.lenient && end != "" {
		line = line[:len(line)-len(end)] + f.end
	}
	f.write(line)
}
