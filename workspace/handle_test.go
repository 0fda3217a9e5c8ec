package workspace_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReopen: a folder that is made again is opened again, by its own name alone.
func TestReopen(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir := filepath.Join(top, "app")
	must(t, os.Mkdir(dir, 0o755))
	w := open(t, dir)
	p, err := w.Resolve("a.txt")
	must(t, err)
	reads := func(want bool, when string) {
		t.Helper()
		w.Reopen()
		if _, _, err := p.ReadFile(100); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644))
	reads(true, "at first")
	must(t, os.RemoveAll(dir))
	reads(false, "removed")
	must(t, os.Mkdir(filepath.Join(top, "other"), 0o755))
	must(t, os.WriteFile(filepath.Join(top, "other", "a.txt"), nil, 0o644))
	must(t, os.Symlink("other", dir))
	reads(false, "a link in its place")
	must(t, os.Remove(dir))
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644))
	reads(true, "made again")
}
