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
// Where they are this process's own pipes or sockets they are read and written without
// blocking a thread: that halves the time of a small request, and Close can
// interrupt a read or a write. Nothing else may then use these files.
func Stdio(in io.Reader, out io.Writer) io.ReadWriteCloser {
	s := &stdio{Reader: in, Writer: out}
	s.closes(in)
	if f, ok := in.(*os.File); ok {
		if polled := pollable(f); polled != f {
			s.Reader = polled
			s.closes(polled)
		}
	}
	if f, ok := out.(*os.File); ok {
		pipe.Widen(f, pipeSize)
		if o := newOutput(f); o != nil {
			s.Writer = o
			s.closes(o)
			return &tryStdio{s, o}
		}
	}
	s.closes(out)
	return s
}

// tryStdio is stdio whose output can be tried.
type tryStdio struct {
	*stdio
	out *output
}

func (s *tryStdio) TryWrite(p []byte) (int, error) { return s.out.TryWrite(p) }

type stdio struct {
	io.Reader
	io.Writer
	closers []io.Closer
}

func (s *stdio) closes(end any) {
	if c, ok := end.(io.Closer); ok {
		s.closers = append(s.closers, c)
	}
}

func (s *stdio) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
