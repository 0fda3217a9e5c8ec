package install

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"pillion/internal/testrig/check"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each testdata file is one home folder before and after `pillion mcp install`.
// Its first line names the agent, the scope and, if uninstalling does not give
// the same bytes back, the word inexact.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	must(t, err)
	words := strings.Fields(strings.SplitN(string(ar.Comment), "\n", 2)[0])
	agent, o := words[0], options(t)
	o.Scope = words[1]
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, "before/"); ok {
			put(t, filepath.Join(o.Home, name), strings.ReplaceAll(string(f.Data), "$HOME", o.Home))
		}
	}
	before := tree(t, o.Home)

	run(t, agent, o)
	installed := tree(t, o.Home)
	if *update {
		writeGolden(t, file, ar, installed)
	} else {
		compare(t, "after installing", installed, section(ar, "after/"))
	}

	if p := plan(t, agent, o); len(p.Files) != 0 {
		t.Errorf("a second run would change %s:\n%s", p.Files[0].Path, p.Files[0].After)
	}

	o.Uninstall = true
	run(t, agent, o)
	if words[len(words)-1] != "inexact" {
		compare(t, "after uninstalling", tree(t, o.Home), before)
	}
	if p := plan(t, agent, o); len(p.Files) != 0 {
		t.Errorf("a second uninstall would change %s", p.Files[0].Path)
	}
}

func options(t *testing.T) Options {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	o := Options{Binary: "/opt/my tools/pillion", Home: home, Project: filepath.Join(home, "my project")}
	must(t, os.Mkdir(o.Project, 0o755))
	return o
}

func plan(t *testing.T, agent string, o Options) Plan {
	t.Helper()
	p, err := For(agent, o)
	must(t, err)
	for _, f := range p.Files {
		if len(f.Why) == 0 {
			t.Errorf("%s would change and nothing says why", f.Path)
		}
	}
	return p
}

func run(t *testing.T, agent string, o Options) {
	t.Helper()
	must(t, plan(t, agent, o).Apply())
}

var must = check.Must

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// tree is every file under home but the records, whose names hold a hash of
// the test's own folder.
func tree(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(home, path)
		if err == nil && !strings.HasPrefix(name, filepath.Join(".local", "state")) {
			files[filepath.ToSlash(name)] = strings.ReplaceAll(get(t, path), home, "$HOME")
		}
		return err
	})
	must(t, err)
	return files
}

func section(ar *txtar.Archive, prefix string) map[string]string {
	files := map[string]string{}
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, prefix); ok {
			files[name] = string(f.Data)
		}
	}
	return files
}

func compare(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if have, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", when, name)
		} else if have != text {
			t.Errorf("%s: %s is\n%s\nwant\n%s", when, name, have, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there and should not be", when, name)
		}
	}
}

func writeGolden(t *testing.T, file string, ar *txtar.Archive, after map[string]string) {
	t.Helper()
	out := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		if strings.HasPrefix(f.Name, "before/") {
			out.Files = append(out.Files, f)
		}
	}
	for _, name := range sortedKeys(after) {
		out.Files = append(out.Files, txtar.File{Name: "after/" + name, Data: []byte(after[name])})
	}
	put(t, file, string(txtar.Format(out)))
}
