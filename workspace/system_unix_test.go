//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
)

func TestLosesOwner(t *testing.T) {
	for _, c := range []struct {
		owner, own int
		want       string
	}{{1000, 1000, ""}, {0, 1000, "root"}, {54321, 1000, "user 54321"}, {1000, 0, ""}} {
		if got := losesOwner(c.owner, c.own); got != c.want {
			t.Errorf("of %d, as %d: %q, want %q", c.owner, c.own, got, c.want)
		}
	}
}

// TestTouchedByAnOlderFile moves a file of last year over another: its own time
// says nothing of that.
func TestTouchedByAnOlderFile(t *testing.T) {
	dir := t.TempDir()
	here, older := filepath.Join(dir, "here"), filepath.Join(dir, "older")
	for _, name := range []string{here, older} {
		machine.Must(t, os.WriteFile(name, nil, 0o644))
	}
	lastYear := time.Now().AddDate(-1, 0, 0)
	machine.Must(t, os.Chtimes(older, lastYear, lastYear))
	began := time.Now().Add(-time.Second)
	machine.Must(t, os.Rename(older, here))
	if at, ok := Touched(here); !ok || at.Before(began) {
		t.Errorf("%v, %v", at, ok)
	}
}

func TestTouchedIsOfFilesAlone(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	machine.Must(t, os.Symlink("nowhere", link))
	for _, name := range []string{dir, link, filepath.Join(dir, "absent")} {
		if at, ok := Touched(name); ok {
			t.Errorf("%s: %v", name, at)
		}
	}
}
