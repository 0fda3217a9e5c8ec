//go:build !unix

package wire

import (
	"os"
	"syscall"
	"time"
)

func pollable(f *os.File) *os.File { return f }

// TryWriter is nil: nothing is written here without waiting.
func TryWriter(syscall.Conn) func(p []byte) (int, error) { return nil }

// watchFor leaves the waiting to who sleeps.
func watchFor(any, time.Duration) {}
