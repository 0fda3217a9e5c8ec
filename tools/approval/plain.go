package approval

import (
	"cmp"
	"fmt"
	"strings"

	"pillion/internal/fault"
)

// PlainPreview is a composed preview as plain text of about limit bytes: its beginning and
// its end, and of a command what is said of it as well. It is not whole when something was
// left out, which is said where it was.
func PlainPreview(p Preview, limit int) (text string, whole bool) {
	if p.Kind != "command" {
		return cutMiddle(fault.Escape(p.Text()), limit)
	}
	facts := p
	facts.Lines = nil
	command, whole := cutMiddle(fault.Escape(p.command()), limit/2)
	rest, all := cutMiddle(fault.Escape(facts.Text()), limit/2)
	return command + rest, whole && all
}

// command is its lines, each marked as one, however an editor breaks them: none can pass
// for what is said beside it.
func (p Preview) command() string {
	var out strings.Builder
	for i, line := range p.Lines {
		mark := CommandMark(i)
		for rest := []rune(line); ; mark = "> … " {
			n := min(len(rest), maxColumns)
			out.WriteString(mark + string(rest[:n]) + "\n")
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
	}
	return out.String()
}

// maxColumns is what fits a line of most editors.
const maxColumns = 100

// CommandMark leads a line of a command, by its number from 0: none can pass for what is said beside it.
func CommandMark(line int) string {
	if line == 0 {
		return "$ "
	}
	return "> "
}

// cutMiddle keeps whole lines of the beginning and of the end, where there are such.
func cutMiddle(text string, limit int) (cut string, whole bool) {
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
		if f.Text {
			out.WriteString(f.Deed + ", " + cmp.Or(f.Summary, count(f.Size, "byte")) + "\n")
		}
		out.WriteString(f.text())
	}
	for i, line := range p.Lines {
		if p.Kind == "command" {
			line = CommandMark(i) + line
		}
		out.WriteString(line + "\n")
	}
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

// text is a file as plain text: its diff, or what is said of it.
func (f File) text() string {
	if f.Text {
		return f.Diff
	}
	out := f.Name + "  " + f.Summary + "\n"
	for _, fact := range f.Facts {
		out += fact.String() + "\n"
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
