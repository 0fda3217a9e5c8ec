package terminal

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pillion/internal/fault"
	"pillion/tools"
)

// output is the only way to a terminal: whatever is written, a terminal obeys what Style
// paints and nothing else. Text from outside is escaped where it is put into a line, since
// only there is known whether it may have several; what was forgotten there is escaped here.
//
// No line is longer than the screen is by now: what is too long goes on behind blanks, so that column 0 has only what is
// ours. Whoever lays text out has broken it better before.
type output struct {
	out   io.Writer
	style func() Style // nil where lines may be of any length
}

// Stdout and Stderr are those of the process, for people. Where Stdout is no terminal, every byte
// of a result goes through as it is; what is said on Stderr is escaped also there, since somebody
// looks at it later.
var Stdout, Stderr io.Writer = shownOn(os.Stdout), output{out: os.Stderr}

func shownOn(f *os.File) io.Writer {
	if term.IsTerminal(int(f.Fd())) {
		return output{out: f}
	}
	return f
}

// Write makes what is invisible visible, apart from line ends, tabs and Style's own colours.
func (o output) Write(p []byte) (int, error) {
	var out strings.Builder
	for rest := string(p); len(rest) > 0; {
		if own := ownSequence(rest); own > 0 {
			out.WriteString(rest[:own])
			rest = rest[own:]
			continue
		}
		end := strings.IndexByte(rest[1:], '\x1b') + 1
		if end == 0 {
			end = len(rest)
		}
		out.WriteString(fault.Escape(rest[:end]))
		rest = rest[end:]
	}
	text := out.String()
	if o.style != nil {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = o.style().Wrap("", "    ", line)
		}
		text = strings.Join(lines, "\n")
	}
	if _, err := io.WriteString(o.out, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownSequence is how long the sequence is that text begins with, if Style paints with it.
func ownSequence(text string) int {
	code, isSequence := strings.CutPrefix(text, "\x1b[")
	end := strings.IndexByte(code, 'm')
	if !isSequence || end < 0 || !painted[code[:end]] {
		return 0
	}
	return len("\x1b[") + end + 1
}

// ring is the bell, which no text has.
func (o output) ring() { io.WriteString(o.out, "\a") } //nolint:errcheck // nobody is left to tell

// clean ends whatever style another program has left, and empties what is below: what comes
// next is whole.
func (o output) clean() {
	io.WriteString(o.out, "\x1b[0m\x1b[J") //nolint:errcheck // likewise
}

// Clear empties the terminal that out is, if it is one.
func Clear(out io.Writer) bool {
	o, ok := out.(output)
	if ok {
		io.WriteString(o.out, "\x1b[H\x1b[2J") //nolint:errcheck // likewise
	}
	return ok
}

// Show prints a result for a person: what it is on out, so that it can be piped, what
// went wrong and what is said about it on errors. Brief leaves out the diff of a change, for someone who has just seen it.
func Show(out, errors io.Writer, r tools.Result, s Style, brief bool) {
	for i, part := range r.Content {
		switch {
		case part.Type != "text":
			fmt.Fprintf(out, "(%s, %d bytes)\n", fault.Escape(part.MIMEType), base64.StdEncoding.DecodedLen(len(part.Data)))
		case r.IsError && i == 0:
			fmt.Fprintln(errors, s.reveal(part.Text, s.Red))
		case r.Display != nil && r.Display.Kind == "diff" && i == 0:
			head, body, _ := strings.Cut(part.Text, "\n")
			fmt.Fprintln(out, s.Green("✓ ")+fault.Escape(head))
			if !brief {
				s.Diff(out, "", body)
			}
		case !r.IsError && i > 0:
			fmt.Fprintln(errors, s.reveal(part.Text, s.Dim))
		default:
			s.text(out, part.Text)
		}
	}
}

// text prints a text. Only a terminal has to be kept from obeying it; a file or
// a pipe gets every byte as it is.
func (s Style) text(out io.Writer, text string) {
	if s.Width > 0 {
		text = s.reveal(text, func(text string) string { return text })
	}
	fmt.Fprint(out, text)
	if s.Width > 0 && text != "" && !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(out)
	}
}
