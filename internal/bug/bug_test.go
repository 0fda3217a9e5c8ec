package bug

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestErrorfPanicsUnderTestsAndKeepsTheCause(t *testing.T) {
	defer func() {
		err, ok := recover().(error)
		if !ok {
			t.Fatal("Errorf did not panic with an error")
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v lost its cause", err)
		}
		if want := "internal error at bug_test.go:"; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %q, want it to start with %q", err, want)
		}
	}()
	_ = Errorf("state %d: %w", 7, fs.ErrNotExist)
}
