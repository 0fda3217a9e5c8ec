//go:build unix

package wire

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWatchForEndsWithData(t *testing.T) {
	near, far, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	defer far.Close()
	watched := make(chan struct{})
	go func() {
		watchFor(near, time.Hour)
		close(watched)
	}()
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-watched
	watchFor(io.Discard, time.Hour) // nothing that could be watched
}

func TestTryWriterNeverWaits(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	try := TryWriter(write)
	if try == nil {
		t.Fatal("a pipe that Go polls cannot be tried")
	}
	piece, wrote := bytes.Repeat([]byte("0123456789"), 10_000), 0
	for {
		n, err := try(piece)
		if err != nil {
			t.Fatal(err)
		}
		if wrote += n; n < len(piece) {
			break // the pipe is full, and we are here
		}
	}
	if n, err := try(piece); n != 0 || err != nil {
		t.Errorf("into a full pipe went %d bytes, %v", n, err)
	}
	got := make([]byte, wrote)
	if _, err := io.ReadFull(read, got); err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if c != piece[i%len(piece)] {
			t.Fatalf("byte %d is %q", i, c)
		}
	}
	read.Close()
	if _, err := try(piece); err == nil {
		t.Error("a pipe that nobody reads took it")
	}
}

func TestTryWriterLeavesBlockingFilesAlone(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	write := os.NewFile(uintptr(ends[1]), "pipe")
	defer write.Close()
	if TryWriter(write) != nil {
		t.Error("a pipe that would block is tried")
	}
}
