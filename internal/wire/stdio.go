package wire

import (
	"errors"
	"io"
	"os"

	"pillion/internal/pipe"
)

// pipeSize holds a whole chunk of text: the peer is woken once for it, not once for
// each 64 KiB.
const pipeSize = 512 << 10

// Stdio joins a reader and a writer; closing it closes each that can be closed.
//
// Where they are this process's own pipes or sockets they are read without
// blocking a thread: that halves the time of a small request, and Close can
// interrupt a read. Nothing else may then use these files.
func Stdio(in io.Reader, out io.Writer) io.ReadWriteCloser {
	s := &stdio{Reader: in, Writer: out}
	for _, end := range []any{in, out} {
		if c, ok := end.(io.Closer); ok {
			s.closers = append(s.closers, c)
		}
	}
	if f, ok := in.(*os.File); ok {
		s.Reader = s.pollable(f)
	}
	if f, ok := out.(*os.File); ok {
		pipe.Widen(f, pipeSize)
		s.Writer = s.pollable(f)
		if try := TryWriter(s.Writer.(*os.File)); try != nil {
			return &tryStdio{s, try}
		}
	}
	return s
}

// tryStdio is stdio whose output can be tried.
type tryStdio struct {
	*stdio
	try tryWrite
}

func (s *tryStdio) TryWrite(p []byte) (int, error) { return s.try(p) }

type stdio struct {
	io.Reader
	io.Writer
	closers []io.Closer
}

// pollable returns f, or a file to use in its place.
func (s *stdio) pollable(f *os.File) *os.File {
	polled := pollable(f)
	if polled != f {
		s.closers = append(s.closers, polled)
	}
	return polled
}

func (s *stdio) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
