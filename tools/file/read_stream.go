package file

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"pillion/tools"
	"pillion/workspace/document"
	"pillion/workspace/lines"
)

// chunkSize is about how many bytes of a file make a chunk.
const chunkSize = 128 << 10

// streamed takes the content out of an answer, to be sent in chunks when it is
// wanted: once the user has agreed where they have to be asked.
func streamed(a *tools.Answer, r readFileResult) *tools.Answer {
	text := r.content
	return sends(a, r, func(ctx context.Context, s *sending) error {
		for text != "" {
			n := len(text)
			if n > chunkSize {
				n = cutChunk([]byte(text[:chunkSize]), lines.Bytes, true)
			}
			if err := s.piece(ctx, text[:n]); err != nil {
				return err
			}
			text = text[n:]
		}
		return nil
	})
}

// streamed is the answer that reads the bytes from up to to when they are wanted.
func (l *largeFile) streamed(r readFileResult, from, to int64) *tools.Answer {
	again := *l
	return sends(readAnswer(l.path, r), r, func(ctx context.Context, s *sending) error {
		f, _, err := again.path.OpenFile()
		if err != nil {
			return err
		}
		defer f.Close()
		again.f = f
		return again.send(ctx, from, to, s)
	})
}

func sends(a *tools.Answer, r readFileResult, run func(context.Context, *sending) error) *tools.Answer {
	r.content = ""
	a.Result, a.Text = r, ""
	if r.linesRead > 0 {
		a.Text = fmt.Sprintf("(lines %d to %d came as progress)", r.startLine, r.endLine)
	}
	a.Stream = func(ctx context.Context, send func(tools.Chunk) error) error {
		s := sending{line: r.startLine, send: send}
		err := run(ctx, &s)
		r.eol = s.eol
		a.Result = r
		return err
	}
	return a
}

func (l *largeFile) send(ctx context.Context, from, to int64, s *sending) error {
	size := int64(chunkSize)
	buf := make([]byte, size)
	for from < to {
		piece := buf[:min(size, to-from)]
		if err := lines.ReadAt(l.f, piece, from); err != nil {
			return l.fault(err)
		}
		n := len(piece)
		if from+int64(n) < to {
			n = cutChunk(piece, l.unit(), l.enc == document.UTF8)
		}
		if n == 0 { // a long line, in an encoding that says nowhere where a character begins
			if size *= 2; size > l.limit {
				return l.tooMuch()
			}
			buf = make([]byte, size)
			continue
		}
		text, err := l.decode(bytes.Clone(piece[:n])) // which the text is made of
		if err != nil {
			return err
		}
		if err := s.piece(ctx, text); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// cutChunk says how much of piece makes a chunk: its whole lines, else its whole
// characters, else nothing.
func cutChunk(piece []byte, unit lines.Unit, isUTF8 bool) int {
	if n := lines.LastEnd(piece, unit); n > 0 {
		return n
	}
	n := len(piece)
	switch {
	case isUTF8:
		for cut := n - 1; cut >= max(0, n-utf8.UTFMax); cut-- {
			if utf8.RuneStart(piece[cut]) {
				if !utf8.FullRune(piece[cut:]) {
					return cut
				}
				break
			}
		}
		return n
	case unit == lines.Bytes:
		return 0
	}
	n -= n % 2
	high := piece[n-1]
	if unit == lines.BigEndian {
		high = piece[n-2]
	}
	if high&0xfc == 0xd8 { // the first half of a pair
		n -= 2
	}
	return n
}

// sending counts the lines of what is sent, and notices how they end.
type sending struct {
	line int
	eol  string
	send func(tools.Chunk) error
}

func (s *sending) piece(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch eol := document.EOL(text); {
	case s.eol == "":
		s.eol = eol
	case eol != "" && eol != s.eol:
		s.eol = "mixed"
	}
	c := tools.Chunk{Content: text, StartLine: s.line}
	s.line += strings.Count(text, "\n")
	if c.EndLine = s.line; strings.HasSuffix(text, "\n") {
		c.EndLine--
	}
	return s.send(c)
}
