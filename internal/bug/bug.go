// Package bug is for what cannot happen. A report panics under tests, so that
// it is found, and is one line on stderr in use, so that nobody's work is lost
// over it. What a person or an agent can act on is a fault, not a bug.
package bug

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Errorf reports a bug and returns it as an error for the caller to pass on.
// The message starts with the file and line that called Errorf.
func Errorf(format string, args ...any) error {
	err := fmt.Errorf("internal error%s: %w", caller(), fmt.Errorf(format, args...))
	if testing.Testing() {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "pillion: %v\n", err)
	return err
}

// caller is Errorf's caller as " at file.go:12".
func caller() string {
	_, file, line, ok := runtime.Caller(2)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", filepath.Base(file), line)
}
