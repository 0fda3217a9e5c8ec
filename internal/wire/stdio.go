package wire

import (
	"errors"
	"io"
	"os"

	"pillion/internal/pipe"
)

// pipeSize holds a large message: the peer is woken once for it, not once for each 64 KiB.
const pipeSize = 512 << 10

// Stdio joins a reader and a writer; closing it closes each that can be closed. Pipes and
// sockets are handed to Go's poller, so that Close interrupts a read or a write. Nothing
// else may then use these files.
func Stdio(in io.Reader, out io.Writer) io.ReadWriteCloser {
	s := &stdio{Reader: in, Writer: out}
	if f := s.end(in); f != nil {
		s.Reader = f
	}
	if f := s.end(out); f != nil {
		pipe.Widen(f, pipeSize)
		s.Writer = f
	}
	return s
}

type stdio struct {
	io.Reader
	io.Writer
	closers []io.Closer
}

// end has Close close an end. Of a file it gives what to use in its stead, else nil.
func (s *stdio) end(e any) *os.File {
	if c, ok := e.(io.Closer); ok {
		s.closers = append(s.closers, c)
	}
	f, ok := e.(*os.File)
	if !ok {
		return nil
	}
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
