//go:build unix

package config

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestAFileThatNeverEnds: whoever reads it would wait for ever, and every call with
// it.
func TestAFileThatNeverEnds(t *testing.T) {
	b := book(t)
	must(t, os.MkdirAll(b.Dir(), 0o700))
	must(t, syscall.Mkfifo(b.File("/a"), 0o600))
	if _, err := b.Page("/a"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
}
