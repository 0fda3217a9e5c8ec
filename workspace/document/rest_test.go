package document

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a name outside leads to has moved when a command could do something else by
// it, and not because a folder, a device or an empty file was written to.
func TestMovedOutside(t *testing.T) {
	for name, c := range map[string]struct {
		text  string // of the file, before
		do    func(dir, file string) error
		moved bool
	}{
		"nothing":              {"echo", func(string, string) error { return nil }, false},
		"other text":           {"echo", func(_, file string) error { return os.WriteFile(file, []byte("exit"), 0o644) }, true},
		"another mode":         {"echo", func(_, file string) error { return os.Chmod(file, 0o755) }, true},
		"gone":                 {"echo", func(_, file string) error { return os.Remove(file) }, true},
		"an empty file, again": {"", func(_, file string) error { return os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)) }, false},
		"no longer empty":      {"", func(_, file string) error { return os.WriteFile(file, []byte("x"), 0o644) }, true},
		"a folder in its place": {"echo", func(_, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o755)
		}, true},
		"a busy folder": {"echo", func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o644) }, false},
		"its time":      {"echo", func(_, file string) error { return os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			must(t, os.WriteFile(file, []byte(c.text), 0o644))
			snap := d.Snapshot(limit)
			for _, outside := range []string{dir, file, os.DevNull, "/proc/self/stat"} {
				snap.RestOnOutside(outside)
			}
			must(t, c.do(dir, file))
			if d.Moved(snap) != c.moved {
				t.Errorf("moved is to be %t", c.moved)
			}
		})
	}
}
