//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.home, ".config", "pillion", "settings.json")
	for _, c := range []struct {
		text, want string
		status     Status
	}{
		{`{"mode": "plan", /* fine */}`, file, OK},
		{`{"mode": "nonsense", "limts": {}}`, `unknown setting "limts" is ignored; mode "nonsense"`, Warning},
		{`{"mode": `, "not valid JSON", Error},
		{`[]`, "must be an object", Error},
	} {
		write(t, file, c.text, 0o600)
		f := settings(t.Context(), exam{})
		if f.Status != c.status || !strings.Contains(f.Detail, c.want) || !strings.Contains(f.Detail, file) {
			t.Errorf("%s: %+v", c.text, f)
		}
	}
	must(t, os.Remove(file))
	must(t, os.Mkdir(file, 0o700)) // whoever may read everything cannot read this
	if f := settings(t.Context(), exam{}); f.Status != Error || !strings.Contains(f.Detail, "cannot be read") {
		t.Errorf("a folder: %+v", f)
	}
}

func TestFolders(t *testing.T) {
	p := newPlace(t)
	config, state := filepath.Join(p.home, ".config", "pillion"), filepath.Join(p.home, ".local", "state", "pillion")
	for _, c := range []struct {
		id, dir string
		mode    os.FileMode
		status  Status
		hint    string
	}{
		{"pillion.config", config, 0o755, OK, ""},
		{"pillion.config", config, 0o775, Warning, "chmod 0755 ~/.config/pillion"},
		{"pillion.state", state, 0o700, OK, ""},
		{"pillion.state", state, 0o777, Warning, "chmod 0755 "},
		{"pillion.registry", filepath.Join(state, "relay"), 0o700, OK, ""},
		{"pillion.registry", filepath.Join(state, "relay"), 0o750, Warning, "chmod 0700 "},
	} {
		must(t, os.MkdirAll(c.dir, 0o700))
		must(t, os.Chmod(c.dir, c.mode))
		if f := finding(t, p.examine(t), c.id); f.Status != c.status || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%s with %o: %+v", c.id, c.mode, f)
		}
		must(t, os.Chmod(c.dir, 0o700))
	}
	write(t, filepath.Join(config, "settings.json"), "{}", 0o666)
	if f := finding(t, p.examine(t), "pillion.config"); f.Status != Warning || !strings.Contains(f.Hint, "chmod go-w ~/.config/pillion/settings.json") {
		t.Errorf("settings that all may write: %+v", f)
	}
	write(t, filepath.Join(state, "not-relay"), "", 0o600)
	must(t, os.Rename(filepath.Join(state, "relay"), filepath.Join(state, "old")))
	write(t, filepath.Join(state, "relay"), "", 0o600)
	if f := finding(t, p.examine(t), "pillion.registry"); f.Status != Error || !strings.Contains(f.Detail, "is not a folder") {
		t.Errorf("a file where the registry would be: %+v", f)
	}
}

func TestFolder(t *testing.T) {
	p := newPlace(t)
	write(t, filepath.Join(p.project, "sub", "a.txt"), "", 0o600)
	write(t, filepath.Join(p.project, "ignored.log"), "", 0o600)
	if f := finding(t, p.examine(t), "folder.root"); f.Status != OK || !strings.HasSuffix(f.Detail, "no git repository, small: 2 files in 2 folders") {
		t.Errorf("got %+v", f)
	}
	write(t, filepath.Join(p.project, ".git", "HEAD"), "ref: refs/heads/main\n", 0o600)
	write(t, filepath.Join(p.project, ".gitignore"), "*.log\n", 0o600)
	if f := finding(t, p.examine(t), "folder.root"); !strings.HasSuffix(f.Detail, "/project, git repository, small: 2 files in 2 folders") {
		t.Errorf("got %+v", f)
	}
	below := p
	below.project = filepath.Join(p.project, "sub")
	if f := finding(t, below.examine(t), "folder.root"); !strings.Contains(f.Detail, "part of the git repository "+p.project+", small: 1 file in 1 folder") {
		t.Errorf("got %+v", f)
	}
	below.project = p.home
	if f := finding(t, below.examine(t), "folder.root"); f.Status != Warning || f.Detail != "~, no git repository, small: 0 files in 1 folder" {
		t.Errorf("the home folder: %+v", f)
	}
	below.project = filepath.Join(p.project, "nowhere")
	r := below.examine(t)
	if f := finding(t, r, "folder.root"); f.Status != Error || r.Summary.Errors != 1 {
		t.Errorf("a folder that is not there: %+v, %+v", f, r.Summary)
	}
}

func TestSizeClasses(t *testing.T) {
	for _, c := range []struct {
		size size
		want string
	}{
		{size{files: 1}, "small: 1 file in 1 folder"},
		{size{files: 5000, folders: 9}, "medium: 5000 files in 10 folders"},
		{size{files: 50000, folders: 1}, "large: 50000 files in 2 folders"},
		{size{files: 10, stopped: true}, "large: more than 10 files in 1 folder"},
	} {
		if got := c.size.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
