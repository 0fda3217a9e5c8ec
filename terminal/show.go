package terminal

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
)

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
