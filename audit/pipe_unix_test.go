//go:build unix

package audit

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAPipeInTheLogsPlaceHoldsNobodyUp: the sidecar did not end, for nobody reads there.
func TestAPipeInTheLogsPlaceHoldsNobodyUp(t *testing.T) {
	for _, name := range []string{current, headFile} {
		dir := written(t, 3)
		must(t, os.Remove(filepath.Join(dir, name)), syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		l := Open(dir, Options{}, t.Logf)
		l.Append(call(3))
		l.Flush()
		_ = l.Close()
		if name == current {
			if _, err := Verify(dir); err == nil {
				t.Error("a pipe was verified")
			}
		} else if r := verified(t, dir); r.Lines != 4 {
			t.Errorf("%d lines, want 4", r.Lines)
		}
	}
}
