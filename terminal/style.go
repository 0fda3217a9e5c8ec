package terminal

import (
	"fmt"
	"io"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// style colours text if the terminal has colours.
type style struct{ colour bool }

func (s style) wrap(code, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.wrap("1", text) }
func (s style) red(text string) string    { return s.wrap("31", text) }
func (s style) green(text string) string  { return s.wrap("32", text) }
func (s style) yellow(text string) string { return s.wrap("33", text) }
func (s style) cyan(text string) string   { return s.wrap("36", text) }
func (s style) dim(text string) string    { return s.wrap("2", text) }

// preview shows what would happen. Nothing in it can move the cursor or colour
// the screen: all that is invisible was made visible first.
func (s style) preview(out io.Writer, p approval.Preview) {
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			s.diff(out, f.Diff)
			if f.Dirty {
				fmt.Fprintln(out, s.yellow("  (this file has unsaved changes in the editor; they stay, and it stays unsaved)"))
			}
		}
	case "command":
		for line := range strings.SplitSeq(fault.Escape(p.Command), "\n") {
			fmt.Fprintln(out, "  "+s.cyan("$ ")+s.bold(line))
		}
		fmt.Fprintln(out, "  "+s.dim("in "+fault.Quote(p.Cwd)))
		for _, w := range p.Writes {
			fmt.Fprintln(out, "  "+s.yellow("writes "+fault.Quote(w)))
		}
	default:
		fmt.Fprintln(out, approval.PlainPreview(p, 10_000))
	}
}

func (s style) diff(out io.Writer, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(fault.Escape(text), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
			line = s.bold(line)
		case strings.HasPrefix(line, "@@"):
			line = s.cyan(line)
		case strings.HasPrefix(line, "+"):
			line = s.green(line)
		case strings.HasPrefix(line, "-"):
			line = s.red(line)
		}
		fmt.Fprintln(out, "  "+line)
	}
}

// Show prints a result for a person.
func Show(out io.Writer, r tools.Result, colour bool) {
	s := style{colour}
	for i, part := range r.Content {
		switch {
		case part.Type != "text":
			fmt.Fprintf(out, "(%s, %d bytes of base64)\n", part.MIMEType, len(part.Data))
		case r.IsError && i == 0:
			fmt.Fprintln(out, s.red(fault.Escape(part.Text)))
		case r.Display != nil && r.Display.Kind == "diff" && i == 0:
			head, body, _ := strings.Cut(part.Text, "\n")
			fmt.Fprintln(out, s.green("✓ ")+fault.Escape(head))
			s.diff(out, body)
		default:
			fmt.Fprintln(out, strings.TrimSuffix(fault.Escape(part.Text), "\n"))
		}
	}
}
