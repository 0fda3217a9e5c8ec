package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever an index holds, reading it ends, and no path leads out.
func FuzzIndex(f *testing.F) {
	for _, version := range []string{"2", "4"} {
		dir := f.TempDir()
		for _, args := range [][]string{
			{"init", "-q"},
			{"update-index", "--add", "--index-version", version, "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,dir/a"},
			{"update-index", "--add", "--cacheinfo", "100755,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,dir/b"},
		} {
			command := exec.Command("git", args...)
			command.Dir = dir
			if out, err := command.CombinedOutput(); err != nil {
				f.Fatalf("git: %v\n%s", err, out)
			}
		}
		seed, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := (&indexReader{text: data}).read()
		if err != nil {
			return
		}
		for _, e := range entries {
			if !filepath.IsLocal(strings.TrimSuffix(e.path, "/")) {
				t.Errorf("path %q", e.path)
			}
		}
	})
}
