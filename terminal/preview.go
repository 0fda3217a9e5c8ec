package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

// mostLines is how much of a preview stands above a question. What is not there
// is counted, and can be looked at.
const mostLines = 120

// Preview shows what would happen. Nothing in it can move the cursor or colour
// the screen: all that is invisible is made visible.
func (s Style) Preview(out io.Writer, p approval.Preview) {
	for _, line := range s.previewLines(p) {
		fmt.Fprintln(out, line)
	}
}

// previewLines are the lines of a preview, ready for the screen.
func (s Style) previewLines(p approval.Preview) []string {
	var lines []string
	switch p.Kind {
	case "diff":
		for i, f := range p.Files {
			if i > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, s.fileLines(f)...)
		}
	case "command":
		lines = s.commandLines(p)
	case "text":
		lines = s.textLines(p)
	default:
		lines = plainLines(p)
	}
	if hasInvisible(p) {
		lines = append(lines, "", "  "+s.Yellow("! There are invisible characters in this; they are shown as escapes such as \\u200b."))
	}
	return lines
}

func plainLines(p approval.Preview) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(approval.PlainPreview(p, math.MaxInt), "\n"), "\n") {
		lines = append(lines, "  "+line)
	}
	return lines
}

// textLines are those of a text, laid out where it comes in parts.
func (s Style) textLines(p approval.Preview) []string {
	if len(p.Facts) == 0 {
		return plainLines(p)
	}
	var lines []string
	if p.Message != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(p.Message, "\n"), "\n") {
			lines = append(lines, "  "+s.Cyan("|")+" "+s.reveal(line, s.Bold))
		}
		lines = append(lines, "")
	}
	for _, f := range p.Facts {
		paint := func(text string) string { return text }
		if f.Notable {
			paint = s.Yellow
		}
		name := f.Name
		for _, v := range f.Values {
			lines = append(lines, "  "+s.Dim(fmt.Sprintf("%-13s", fault.Escape(name)))+" "+paint(fault.Escape(v)))
			name = ""
		}
	}
	if p.Diff != "" {
		lines = append(append(lines, ""), s.diffLines(p.Diff)...)
	}
	return lines
}

func hasInvisible(p approval.Preview) bool {
	text := p.Command + p.Message
	for _, f := range p.Files {
		text += strings.ReplaceAll(f.Diff, "\r\n", "\n")
	}
	return fault.Escape(text) != text
}

func (s Style) fileLines(f change.FilePreview) []string {
	lines := []string{"  " + s.FileHead(f)}
	lines = append(lines, s.diffLines(HunksOf(f.Diff))...)
	if f.Dirty {
		lines = append(lines, s.Yellow("  (this file has unsaved changes in the editor; they stay, and it stays unsaved)"))
	}
	return lines
}

// FileHead says in a line what becomes of a file.
func (s Style) FileHead(f change.FilePreview) string {
	head := s.Bold(fault.Quote(f.Path))
	switch f.Operation {
	case change.Create:
		head += s.Dim("  new file")
	case change.CreateDirectory:
		head += s.Dim("  new folder")
	case change.Delete:
		head += s.Dim("  is deleted")
	case change.Move:
		head += s.Dim("  moves to ") + s.Bold(fault.Quote(f.To))
	}
	if words := change.Words(f.Note, f.Whole); words != "" {
		head += s.Dim("  " + words)
	}
	if f.Entries != nil {
		head += s.Dim("  a folder with " + files(*f.Entries))
	}
	if f.Additions > 0 {
		head += "  " + s.Green(fmt.Sprintf("+%d", f.Additions))
	}
	if f.Deletions > 0 {
		head += "  " + s.Red(fmt.Sprintf("−%d", f.Deletions))
	}
	return head
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// HunksOf is a file's diff without the lines that name the file.
func HunksOf(text string) string {
	if strings.HasPrefix(text, "@@") {
		return text
	}
	if i := strings.Index(text, "\n@@"); i >= 0 {
		return text[i+1:]
	}
	return text
}

// Diff shows a unified diff, each line after indent.
func (s Style) Diff(out io.Writer, indent, text string) {
	for _, line := range s.diffLines(text) {
		fmt.Fprintln(out, indent+line)
	}
}

// SplitDiff gives a diff's lines, and which of them stand in a hunk. Ends of lines as on
// Windows are left out where all lines have them.
func SplitDiff(text string) (lines []string, inHunk []bool) {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil, nil
	}
	lines = strings.Split(text, "\n")
	crlf := allCRLF(lines)
	inHunk = make([]bool, len(lines))
	for i, line := range lines {
		inHunk[i] = i > 0 && inHunk[i-1] && !strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "@@")
		if crlf {
			lines[i] = strings.TrimSuffix(line, "\r")
		}
	}
	return lines, inHunk
}

func (s Style) diffLines(text string) []string {
	lines, inHunk := SplitDiff(text)
	var marks map[int][]span
	if s.Colour {
		marks = emphasis(lines, inHunk)
	}
	shown := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case marks[i] == nil:
			shown[i] = "  " + s.reveal(line, s.paintOf(line, inHunk[i]))
		case line[0] == '-':
			shown[i] = "  " + s.marked(line, marks[i], red)
		default:
			shown[i] = "  " + s.marked(line, marks[i], green)
		}
	}
	return shown
}

// paintOf is the colour of one line of a diff.
func (s Style) paintOf(line string, inHunk bool) func(string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return s.Cyan
	case !inHunk:
		return s.Bold
	case strings.HasPrefix(line, "+"):
		return s.Green
	case strings.HasPrefix(line, "-"):
		return s.Red
	case strings.HasPrefix(line, "\\"):
		return s.Dim
	}
	return func(text string) string { return text }
}

// allCRLF reports a diff in which every line ends as on Windows: only where line
// ends differ are they worth showing.
func allCRLF(lines []string) bool {
	found := false
	for _, line := range lines {
		if line == "" || !strings.ContainsRune("+- ", rune(line[0])) || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
			continue
		}
		if !strings.HasSuffix(line, "\r") {
			return false
		}
		found = true
	}
	return found
}

func (s Style) commandLines(p approval.Preview) []string {
	var lines []string
	sign := "$ "
	for line := range strings.SplitSeq(p.Command, "\n") {
		lines = append(lines, "  "+s.Cyan(sign)+s.reveal(line, s.Bold))
		sign = "> "
	}
	lines = append(lines, "  "+s.Dim(Where(p)))
	for _, w := range p.Writes {
		lines = append(lines, "  "+s.Yellow("writes "+fault.Quote(w)))
	}
	for _, u := range p.Unsaved {
		lines = append(lines, "  "+s.Yellow("does not see what is unsaved in "+fault.Quote(u)))
	}
	return lines
}

// Where says in which folder a command would run, and what would hold it.
func Where(p approval.Preview) string {
	where := "in " + folder(p.Cwd)
	switch p.Sandbox {
	case "":
	case "none":
		where += ", without a sandbox"
	default:
		where += ", held by " + fault.Quote(p.Sandbox)
		if !p.Network {
			where += ", without a network"
		}
	}
	return where
}

func folder(cwd string) string {
	if cwd == "." || cwd == "" {
		return "the workspace folder"
	}
	return fault.Quote(cwd)
}
