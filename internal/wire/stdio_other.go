//go:build !unix

package wire

import (
	"io"
	"os"
	"syscall"
	"time"
)

func pollable(f *os.File) *os.File { return f }

// output is what nothing is written to here.
type output struct{ io.WriteCloser }

func newOutput(*os.File) *output { return nil }

func (o *output) TryWrite([]byte) (int, error) { return 0, nil }

// TryWriter is nil: nothing is written here without waiting.
func TryWriter(syscall.Conn) func(p []byte) (int, error) { return nil }

// watchFor leaves the waiting to who sleeps.
func watchFor(any, time.Duration) {}
