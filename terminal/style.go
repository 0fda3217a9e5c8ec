package terminal

import (
	"fmt"
	"io"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// Style colours text if the terminal has colours.
type Style struct{ Colour bool }

func (s Style) wrap(code, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold, and the colours below, leave text alone where there are none.
func (s Style) Bold(text string) string   { return s.wrap("1", text) }
func (s Style) Red(text string) string    { return s.wrap("31", text) }
func (s Style) Green(text string) string  { return s.wrap("32", text) }
func (s Style) Yellow(text string) string { return s.wrap("33", text) }
func (s Style) Cyan(text string) string   { return s.wrap("36", text) }
func (s Style) Dim(text string) string    { return s.wrap("2", text) }

// Preview shows what would happen. Nothing in it can move the cursor or colour
// the screen: all that is invisible was made visible first.
func (s Style) Preview(out io.Writer, p approval.Preview) {
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			s.Diff(out, f.Diff)
			if f.Dirty {
				fmt.Fprintln(out, s.Yellow("  (this file has unsaved changes in the editor; they stay, and it stays unsaved)"))
			}
		}
	case "command":
		for line := range strings.SplitSeq(fault.Escape(p.Command), "\n") {
			fmt.Fprintln(out, "  "+s.Cyan("$ ")+s.Bold(line))
		}
		fmt.Fprintln(out, "  "+s.Dim("in "+folder(p.Cwd)))
		for _, w := range p.Writes {
			fmt.Fprintln(out, "  "+s.Yellow("writes "+fault.Quote(w)))
		}
	default:
		fmt.Fprintln(out, approval.PlainPreview(p, 10_000))
	}
}

func folder(cwd string) string {
	if cwd == "." {
		return "the workspace folder"
	}
	return fault.Quote(cwd)
}

// Diff shows a unified diff.
func (s Style) Diff(out io.Writer, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(fault.Escape(text), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
			line = s.Bold(line)
		case strings.HasPrefix(line, "@@"):
			line = s.Cyan(line)
		case strings.HasPrefix(line, "+"):
			line = s.Green(line)
		case strings.HasPrefix(line, "-"):
			line = s.Red(line)
		}
		fmt.Fprintln(out, "  "+line)
	}
}

// Show prints a result for a person.
func Show(out io.Writer, r tools.Result, colour bool) {
	s := Style{Colour: colour}
	for i, part := range r.Content {
		switch {
		case part.Type != "text":
			fmt.Fprintf(out, "(%s, %d bytes of base64)\n", part.MIMEType, len(part.Data))
		case r.IsError && i == 0:
			fmt.Fprintln(out, s.Red(fault.Escape(part.Text)))
		case r.Display != nil && r.Display.Kind == "diff" && i == 0:
			head, body, _ := strings.Cut(part.Text, "\n")
			fmt.Fprintln(out, s.Green("✓ ")+fault.Escape(head))
			s.Diff(out, body)
		default:
			fmt.Fprintln(out, strings.TrimSuffix(fault.Escape(part.Text), "\n"))
		}
	}
}
