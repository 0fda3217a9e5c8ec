package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// input reads lines, and only while one is wanted: an editor that is started on
// the same terminal gets every key. Whoever has the asker's turn uses it.
type input struct {
	reader  *bufio.Reader
	lines   chan line // what the one read that may be under way will give
	reading bool
	discard func() // drops what was typed before it was asked for; nil for pipes
}

type line struct {
	text string
	err  error
}

// errWoken ends a read whose question has changed meanwhile.
var errWoken = errors.New("the question has changed")

func newInput(in io.Reader, discard func()) *input {
	return &input{reader: bufio.NewReader(in), lines: make(chan line, 1), discard: discard}
}

// read waits for a line, for wake, or for the end of ctx.
func (i *input) read(ctx context.Context, wake <-chan struct{}) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if !i.reading {
		i.reading = true
		go func() {
			text, err := i.reader.ReadString('\n')
			i.lines <- line{text, err}
		}()
	}
	select {
	case l := <-i.lines:
		i.reading = false
		if l.text != "" {
			l.err = nil // a last line without its end
		}
		return strings.TrimRight(l.text, "\r\n"), l.err
	case <-wake:
		return "", errWoken
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// forget drops what was typed before the question stood there: an answer is for
// what was on show when it was typed.
func (i *input) forget() {
	i.discard()
	select {
	case l := <-i.lines:
		i.reading = false
		if l.err != nil && l.text == "" {
			i.reading = true
			i.lines <- l // the end is not forgotten
		}
	default:
	}
}

// Open finds the person's terminal: standard input and standard error where these
// are it, else the one that the program was started in, so that a question is
// neither answered by what is piped in nor lost in what is piped out. It reports
// false where there is none.
func Open() (in, out *os.File, ok bool) {
	input, output := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		input, output = "CONIN$", "CONOUT$"
	}
	in, inOK := terminalOr(os.Stdin, input, os.O_RDONLY)
	out, outOK := terminalOr(os.Stderr, output, os.O_WRONLY)
	return in, out, inOK && outOK
}

func terminalOr(f *os.File, name string, mode int) (*os.File, bool) {
	if term.IsTerminal(int(f.Fd())) {
		return f, true
	}
	f, err := os.OpenFile(name, mode, 0)
	return f, err == nil
}
