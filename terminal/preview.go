package terminal

import (
	"fmt"
	"io"
	"strings"

	"pillion/tools/approval"
	"pillion/workspace/diff"
)

// mostLines is how many rows of a preview stand above a question. What is not there
// is counted, and can be looked at.
const mostLines = 120

// Preview shows what would happen. Nothing in it can move the cursor or colour
// the screen: all that is invisible is made visible.
func (s Style) Preview(out io.Writer, p approval.Preview) {
	for _, line := range s.previewLines(p) {
		fmt.Fprintln(out, line)
	}
}

// previewLines are the rows of a composed preview, ready for the screen. Why it asks, and
// who, stands above it.
func (s Style) previewLines(p approval.Preview) []string {
	var lines []string
	for i, f := range p.Files {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, s.fileLines(f)...)
	}
	lines = append(lines, s.body(p)...)
	if own := p.OwnFacts(); len(lines) > 0 && len(own) > 0 && p.Kind != "command" {
		lines = append(lines, "")
	}
	lines = append(lines, s.factLines(p.OwnFacts())...)
	if p.Diff != "" {
		lines = append(append(lines, ""), s.rows(diff.Rows(p.Diff))...)
	}
	for _, notice := range p.Notices {
		lines = append(lines, "", "  "+s.Yellow("! "+notice))
	}
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(strings.Join(lines, "\n"), "\n")
}

// body is what a preview shows in a block of its own.
func (s Style) body(p approval.Preview) []string {
	text, first, rest := "", "", ""
	switch {
	case p.Kind == "command":
		text, first, rest = p.Command, "$", ">"
	case p.Kind == "text" && p.Message != "":
		text, first, rest = strings.TrimRight(p.Message, "\r\n"), "|", "|"
	}
	var lines []string
	if text == "" {
		for _, line := range p.Lines {
			lines = append(lines, s.Wrap("  ", "    ", line))
		}
		return lines
	}
	for line := range strings.SplitSeq(text, "\n") { // as it is, so that what is made visible stands out
		lines = append(lines, s.Wrap("  "+s.Cyan(first)+" ", "    ", s.reveal(line, s.Bold)))
		first = rest
	}
	return lines
}

// labelColumns are those of a fact's label; a longer one takes more.
const labelColumns = 14

func (s Style) factLines(facts []approval.Fact) []string {
	var lines []string
	for _, f := range facts {
		paint := map[approval.Tone]func(string) string{approval.Warning: s.Yellow, approval.Muted: s.Dim}[f.Tone]
		if paint == nil {
			paint = func(text string) string { return text }
		}
		label := f.Label
		for _, v := range f.Values() {
			lines = append(lines, s.Wrap("  "+s.Dim(label)+strings.Repeat(" ", max(labelColumns-len(label), 2)), strings.Repeat(" ", labelColumns+4), paint(v)))
			label = ""
		}
	}
	return lines
}

func (s Style) fileLines(f approval.File) []string {
	lines := append([]string{s.fileHead(f)}, s.factLines(f.Facts)...)
	if f.Text {
		lines = append(lines, s.rows(diff.HunkRows(f.Diff))...)
	}
	return lines
}

// fileHead says in a line what becomes of a file.
func (s Style) fileHead(f approval.File) string {
	head := s.Bold(f.Name)
	if f.Summary != "" {
		head += s.Dim("  " + f.Summary)
	}
	if f.Additions > 0 {
		head += "  " + s.Green(fmt.Sprintf("+%d", f.Additions))
	}
	if f.Deletions > 0 {
		head += "  " + s.Red(fmt.Sprintf("−%d", f.Deletions))
	}
	return s.Wrap("  ", "    ", head)
}

// Diff shows a unified diff, each line after indent.
func (s Style) Diff(out io.Writer, indent, text string) {
	for _, line := range s.rows(diff.Rows(text)) {
		fmt.Fprintln(out, indent+strings.ReplaceAll(line, "\n", "\n"+indent))
	}
}

func (s Style) rows(rows []diff.Row) []string {
	shown := make([]string, len(rows))
	for i, row := range rows {
		shown[i] = s.Wrap("  ", "  "+s.Dim("…"), s.row(row)) // which no line begins with
	}
	return shown
}

// row shows a line of a diff, with what changed within it underlined.
func (s Style) row(r diff.Row) string {
	code := map[diff.RowKind]string{diff.Added: green, diff.Deleted: red, diff.HunkHead: cyan, diff.FileHead: bold, diff.Remark: dim}[r.Kind]
	var out strings.Builder
	for _, part := range r.Parts() {
		paint := code
		if part.Marked {
			paint = underline + code
		}
		out.WriteString(s.reveal(part.Text, func(text string) string { return s.paint(paint, text) }))
	}
	return out.String()
}
