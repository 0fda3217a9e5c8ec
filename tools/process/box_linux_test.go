package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWhereThereIsNoBox: in a home that is open itself or lies in an open folder, and where more would have to be hidden
// than a box has mounts for.
func TestWhereThereIsNoBox(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	r := newRunner(t)
	if level := r.Walls().Level; level != Bubblewrap {
		t.Fatalf("the sandbox is %s: install bubblewrap", level)
	}
	project := filepath.Join(home, "project")
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(project, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, name), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/.env")
	write("a/b.txt")
	held, ok := r.Box(Box{Folders: []string{project}, Home: []string{filepath.Join(home, "more")}, Git: true})
	if !ok || !slices.Equal(held.Blank, []string{filepath.Join(project, "a/.env")}) || len(held.Writable) > 0 || !held.Offline || !slices.Contains(held.ReadOnly, filepath.Join(home, "more")) {
		t.Errorf("the box of a project: %+v, %t", held, ok)
	}
	got, err := r.Run(t.Context(), Spec{Command: "ls -A /var | grep -v tmp; cat a/b.txt; command -v git >/dev/null && echo git", Dir: project, Confine: held}, nil)
	if err != nil || got.Stdout != "text\ngit\n" {
		t.Errorf("what is not of the system can be seen, or programs and the project cannot: %q, %v", got.Stdout, err)
	}
	for _, folder := range []string{home, filepath.Dir(home), "/"} {
		if _, ok := r.Box(Box{Folders: []string{folder}, Git: false}); ok {
			t.Errorf("there is a box for %s, with the home %s", folder, home)
		}
	}
	for i := range mostBlanks {
		write(fmt.Sprintf("keys/%d.pem", i))
	}
	if _, ok := r.Box(Box{Folders: []string{project}, Git: false}); ok {
		t.Errorf("there is a box that hides %d files", mostBlanks+1)
	}
}
