package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/fault"
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

// TestAFolderThatWasReplaced is neither of the two until somebody says which.
func TestAFolderThatWasReplaced(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir, moved := filepath.Join(top, "app"), filepath.Join(top, "moved")
	must(t, os.Mkdir(dir, 0o755))
	w := open(t, dir)
	p, err := w.Resolve("a.txt")
	must(t, err)
	refused := func(want bool, when string) {
		t.Helper()
		if err := w.CheckFolders(); (fault.CodeOf(err) == fault.ConcurrentModification) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused(false, "at first")
	must(t, os.Rename(dir, moved))
	refused(true, "moved away")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644))
	w.Reopen()
	refused(true, "replaced")
	if _, _, err := p.ReadFile(100); err == nil {
		t.Error("it became the other one by itself")
	}
	w.OpenAgain(dir)
	refused(false, "opened again")
	if _, _, err := p.ReadFile(100); err != nil {
		t.Errorf("opened again: %v", err)
	}
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(moved, dir))
	refused(false, "the only one that is left")
	must(t, os.Rename(dir, moved))
	must(t, os.Symlink("moved", dir))
	refused(true, "a link in its place")
}
