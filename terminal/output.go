package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pillion/internal/fault"
)

// output is the only way to a terminal: whatever is written, a terminal obeys what Style
// paints and nothing else. Text from outside is escaped where it is put into a line, since
// only there is known whether it may have several; what was forgotten there is escaped here.
type output struct{ out io.Writer }

// Stdout and Stderr are those of the process, for people. Where Stdout is no terminal, every byte
// of a result goes through as it is; what is said on Stderr is escaped also there, since somebody
// looks at it later.
var Stdout, Stderr io.Writer = shownOn(os.Stdout), output{os.Stderr}

func shownOn(f *os.File) io.Writer {
	if term.IsTerminal(int(f.Fd())) {
		return output{f}
	}
	return f
}

// Write makes what is invisible visible, apart from line ends, tabs and Style's own colours.
func (o output) Write(p []byte) (int, error) {
	var out strings.Builder
	for rest := p; len(rest) > 0; {
		if own := ownSequence(rest); own > 0 {
			out.Write(rest[:own])
			rest = rest[own:]
			continue
		}
		end := bytes.IndexByte(rest[1:], '\x1b') + 1
		if end == 0 {
			end = len(rest)
		}
		out.WriteString(fault.Escape(string(rest[:end])))
		rest = rest[end:]
	}
	if _, err := io.WriteString(o.out, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownSequence is how long the sequence is that text begins with, if Style paints with it.
func ownSequence(text []byte) int {
	code, isSequence := bytes.CutPrefix(text, []byte("\x1b["))
	end := bytes.IndexByte(code, 'm')
	if !isSequence || end < 0 || !painted[string(code[:end])] {
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
