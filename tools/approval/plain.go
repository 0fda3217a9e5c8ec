package approval

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"pillion/internal/fault"
)

// PlainPreview is a composed preview as plain text of about limit bytes: its beginning and
// its end, and of a command what is said of it as well. It is not whole when something was
// left out, which is said where it was.
func PlainPreview(p Preview, limit int) (text string, whole bool) {
	lines := fault.Escape(p.lines(maxColumns))
	p.Lines = nil
	rest := fault.Escape(p.Text())
	if p.Kind != "command" {
		return Cut(lines+rest, limit)
	}
	lines, whole = Cut(lines, limit/2)
	rest, all := Cut(rest, limit/2)
	return lines + rest, whole && all
}

// lines are those of a command or of what an agent wrote, each marked as one and broken at so
// many columns: none can pass for what is said beside it.
func (p Preview) lines(columns int) string {
	var out strings.Builder
	for i, line := range p.Lines {
		mark := "| "
		switch {
		case p.Kind == "command" && i == 0:
			mark = "$ "
		case p.Kind == "command":
			mark = "> "
		}
		for rest := []rune(line); ; {
			n := min(len(rest), columns)
			out.WriteString(mark + string(rest[:n]) + "\n")
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
			mark = strings.Replace(mark[:1], "$", ">", 1) + " … "
		}
	}
	return out.String()
}

// maxColumns is what fits a line of most editors.
const maxColumns = 100

// Cut keeps of what is longer whole lines of the beginning and of the end, where there are such.
func Cut(text string, limit int) (cut string, whole bool) {
	if len(text) <= limit {
		return text, true
	}
	head := text[:limit*2/3]
	if end := strings.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end]
	}
	tail := text[len(text)-limit/3:]
	if start := strings.IndexByte(tail, '\n'); start >= 0 {
		tail = tail[start+1:]
	} else {
		tail = ""
	}
	head = strings.ToValidUTF8(head, "")
	return fmt.Sprintf("%s\n… %d more bytes are not shown\n%s", head, len(text)-len(head)-len(tail), tail), false
}

// Text is a composed preview as lines of text, but for why it asks and who, which stand above it.
func (p Preview) Text() string {
	var out strings.Builder
	for _, f := range p.Files {
		out.WriteString(f.text())
	}
	out.WriteString(p.lines(math.MaxInt))
	for _, f := range p.OwnFacts() {
		out.WriteString(f.String() + "\n")
	}
	if p.Diff != "" {
		out.WriteString("\n" + p.Diff)
	}
	return out.String()
}

// OwnFacts are the facts but for why it asks and who.
func (p Preview) OwnFacts() []Fact {
	var out []Fact
	for _, f := range p.Facts {
		if f.Code != "reasons" && f.Code != "agent" {
			out = append(out, f)
		}
	}
	return out
}

// text is a file as plain text: what is said of it, and its diff.
func (f File) text() string {
	out := f.Name + "  " + f.Summary + "\n"
	if f.Text {
		out = f.Deed + ", " + cmp.Or(f.Summary, count(f.Size, "byte")) + "\n"
	}
	for _, fact := range f.Facts {
		out += fact.String() + "\n"
	}
	if f.Text {
		out += f.Diff
	}
	return out
}

// String is the fact as text, of one line or several.
func (f Fact) String() string {
	if len(f.Items) == 0 {
		return f.Label + ": " + f.Text
	}
	return f.Label + ":\n- " + strings.Join(f.Items, "\n- ")
}
