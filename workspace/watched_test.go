package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pillion/workspace"
)

// TestWatchedFolders: those that a walk enters, each visited before it is listed,
// so that what is made as soon as it is watched is listed.
func TestWatchedFolders(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{".git/objects", "src/deep", "node_modules/x", "src/target", "other"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(top, ".gitignore"), []byte("node_modules/\ntarget\n"), 0o644))
	must(t, os.Symlink("src", filepath.Join(top, "link")))
	w, err := workspace.Open(workspace.Folder{Dir: top})
	must(t, err)
	defer w.Close()
	below := func(dir string, also string) []string {
		var out []string
		must(t, w.WatchedFolders(context.Background(), filepath.Join(top, dir), func(folder string) error {
			rel, err := filepath.Rel(top, folder)
			must(t, err)
			out = append(out, rel)
			if also != "" && len(out) < 9 && filepath.Base(folder) != also {
				must(t, os.MkdirAll(filepath.Join(folder, also), 0o755))
			}
			return nil
		}))
		return out
	}
	for _, one := range []struct {
		dir, also string
		want      []string
	}{
		{".", "", []string{".", "other", "src", "src/deep"}},
		{"src", "", []string{"src", "src/deep"}},
		{"node_modules", "", nil},
		{".git", "", nil},
		{"src/target", "", nil},
		{".", "new", []string{".", "new", "other", "other/new", "src", "src/deep", "src/deep/new", "src/new"}},
		{"gone", "", []string{"gone"}},
		{"..", "", nil},
	} {
		got := []string(nil)
		if one.dir == "gone" {
			err := w.WatchedFolders(context.Background(), filepath.Join(top, "gone"), func(string) error { got = append(got, "gone"); return nil })
			if err == nil {
				t.Error("a folder that is not there was listed")
			}
		} else {
			got = below(one.dir, one.also)
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %v, want %v", one.dir, got, one.want)
		}
	}
}
