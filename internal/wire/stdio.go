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
// blocking a thread, so that Close can interrupt a read or a write. Nothing else may then
// use these files.
func Stdio(in io.Reader, out io.Writer) io.ReadWriteCloser {
	s := &stdio{Reader: in, Writer: out}
	s.closes(in)
	s.closes(out)
	if f, ok := in.(*os.File); ok {
		if polled := pollable(f); polled != f {
			s.Reader = polled
			s.closes(polled)
		}
	}
	if f, ok := out.(*os.File); ok {
		pipe.Widen(f, pipeSize)
		if polled := pollable(f); polled != f {
			s.Writer = polled
			s.closes(polled)
		}
	}
	return s
}

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
