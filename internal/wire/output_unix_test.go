//go:build unix

package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// filled is an output to a pipe that has no room left, its other end, and what is in it.
func filled(t *testing.T) (o *output, far *os.File, in []byte) {
	t.Helper()
	far, near, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if o = newOutput(near); o == nil {
		t.Fatal("a pipe is no output")
	}
	t.Cleanup(func() { far.Close(); o.Close() })
	piece := bytes.Repeat([]byte("0123456789"), 1000)
	for {
		n, err := o.TryWrite(piece)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, piece[:n]...)
		if n < len(piece) {
			return o, far, in
		}
	}
}

func TestAFullOutputWaits(t *testing.T) {
	o, far, want := filled(t)
	if n, err := o.TryWrite([]byte("more")); n != 0 || err != nil {
		t.Fatalf("into a full pipe went %d bytes, %v", n, err)
	}
	rest := bytes.Repeat([]byte("abc"), 1<<18)
	wrote := make(chan error, 1)
	go func() {
		n, err := o.Write(rest)
		if err == nil && n < len(rest) {
			err = io.ErrShortWrite
		}
		wrote <- errors.Join(err, o.Close())
	}()
	got, err := io.ReadAll(far)
	if err := errors.Join(err, <-wrote); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, append(want, rest...)) {
		t.Errorf("%d bytes came of %d, or others", len(got), len(want)+len(rest))
	}
	if o.polled != nil {
		t.Error("it is polled though nothing waits")
	}
}

func TestCloseInterruptsAWrite(t *testing.T) {
	o, _, _ := filled(t)
	wrote := make(chan error, 1)
	go func() {
		_, err := o.Write([]byte("more"))
		wrote <- err
	}()
	if err := o.Close(); err != nil { // before the write or in it
		t.Fatal(err)
	}
	if err := <-wrote; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the write ended with %v", err)
	}
	if _, err := o.TryWrite([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after that: %v", err)
	}
}

func TestAnOutputThatNobodyReads(t *testing.T) {
	o, far, _ := filled(t)
	far.Close()
	if _, err := o.Write([]byte("more")); err == nil {
		t.Error("a pipe that nobody reads took it")
	}
}

func TestOtherFilesAreNoOutput(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if newOutput(f) != nil {
		t.Error("a file on disk is an output")
	}
	if _, err := f.WriteString("still open"); err != nil {
		t.Error(err)
	}
}
