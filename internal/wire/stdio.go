package wire

import (
	"errors"
	"io"
)

// Stdio joins a reader and a writer. Closing it closes each that can be closed.
func Stdio(in io.Reader, out io.Writer) io.ReadWriteCloser {
	return &stdio{Reader: in, Writer: out}
}

type stdio struct {
	io.Reader
	io.Writer
}

func (s *stdio) Close() error {
	var errs []error
	for _, end := range []any{s.Reader, s.Writer} {
		if c, ok := end.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
