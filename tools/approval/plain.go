package approval

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
)

// PlainPreview is a composed preview as plain text of at most limit bytes. What was cut is
// said, at the end.
func PlainPreview(p Preview, limit int) string {
	text := fault.Escape(p.Text())
	if len(text) <= limit {
		return text
	}
	cut := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s\n… %d more bytes are not shown", cut, len(text)-len(cut))
}

// Text is a composed preview as lines of text, but for why it asks and who, which stand above it.
func (p Preview) Text() string {
	var out strings.Builder
	for _, f := range p.Files {
		if p.Kind == "review" && f.Text { // its diff has no lines that name the file
			out.WriteString(strings.Join(nonEmpty([]string{f.Deed, f.Summary}), ", ") + "\n")
		}
		out.WriteString(f.text())
	}
	for i, line := range p.Lines {
		switch {
		case p.Kind == "command" && i == 0:
			line = "$ " + line
		case p.Kind == "command":
			line = "> " + line
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
