package state

import (
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	t.Setenv("XDG_STATE_HOME", "/var/ada")
	if got, err := Folder("journal"); err != nil || got != filepath.FromSlash("/var/ada/pillion/journal") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestIn(t *testing.T) {
	for _, c := range []struct{ goos, xdg, want string }{
		{"linux", "", "/home/ada/.local/state/pillion"},
		{"linux", "/var/ada", "/var/ada/pillion"},
		{"linux", "relative", "/home/ada/.local/state/pillion"},
		{"freebsd", "", "/home/ada/.local/state/pillion"},
		{"darwin", "", "/home/ada/Library/Application Support/pillion"},
		{"darwin", "/var/ada", "/var/ada/pillion"},
		{"windows", "", "/home/ada/AppData/Local/pillion"},
	} {
		getenv := func(string) string { return c.xdg }
		if got := filepath.ToSlash(In(c.goos, "/home/ada", getenv)); got != c.want {
			t.Errorf("%s with %q: %s, want %s", c.goos, c.xdg, got, c.want)
		}
	}
}
