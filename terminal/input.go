package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
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
// what was on show when it was typed. What comes from a pipe was written for it.
func (i *input) forget() {
	if i.discard == nil {
		return
	}
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
