//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onePath finds the guard of a path as it is defined: by the file itself, and then by each folder above it.
func (g Guards) onePath(path string) string {
	for at, below := filepath.Clean(path), ""; ; {
		if info, err := os.Stat(at); err == nil {
			for _, one := range g {
				if at, is := one.holds(info, below); is {
					return one.effect(at)
				}
			}
		}
		above := filepath.Dir(at)
		if above == at {
			return ""
		}
		at, below = above, filepath.Join(filepath.Base(at), below)
	}
}

// TestGuardsAreFoundForManyAsForOne: what a finder remembers of folders changes no answer.
func TestGuardsAreFoundForManyAsForOne(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, name := range []string{"home/.zshrc", "home/.hidden/x", "home/.free/x", "home/plain", "work/rc/file", "work/conf/deep/x", "work/src/a", "elsewhere/x"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"home/.vimrc": "../work/rc/file", "home/.conf": "../work/conf", "work/lnk": "conf", "work/home": "../home", "home/.later": "../elsewhere/new/x"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("home/.zshrc"), at("work/other")); err != nil {
		t.Fatal(err)
	}
	g := NewGuards([]Guarded{
		{Path: at("home"), Effect: "hidden", Hidden: true, Free: []string{".free"}},
		{Path: at("home/.zshrc"), Effect: "shell"},
		{Path: at("home/.vimrc"), Effect: "editor"},
		{Path: at("home/.conf"), Effect: "conf"},
		{Path: at("home/.later"), Effect: "later"},
		{Path: at("work/missing/deep"), Effect: "missing"},
	})
	finder, found := g.Finder(), 0
	for _, below := range strings.Fields(`
		/ . home home/.zshrc home/.ZSHRC home/.hidden home/.hidden/x home/.hidden/new/y home/.free home/.free/x home/plain home/.vimrc home/.conf home/.conf/deep/x
		work work/rc work/rc/file work/rc/new work/conf work/conf/deep work/conf/deep/x work/conf/new work/lnk work/lnk/deep/x work/lnk/new
		work/home work/home/.zshrc work/home/.new work/home/plain work/other work/src work/src/a work/src/new/b work/missing work/missing/deep work/missing/deep/x work/missing/other
		elsewhere elsewhere/x elsewhere/new elsewhere/new/x elsewhere/new/x/y elsewhere/newer`) {
		path := at(below)
		if below == "/" {
			path = below
		}
		want := g.onePath(path)
		if got := finder.Effect(path); got != want || g.Effect(path) != want {
			t.Errorf("%s: %q, want %q", below, got, want)
		}
		if want != "" {
			found++
		}
	}
	if found < 20 {
		t.Errorf("only %d of them are guarded", found)
	}
}
