package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/workspace"
)

// A file apart is reached by whoever holds its Path, and by no name.
func TestApart(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Setenv("HOME", filepath.Join(outer, "home"))
	tree(t, outer, map[string]string{
		"ws/file": "", "ws/inside.md": "", "home/x/memory.md": "mine", "home/x/settings.json": "{}", "home/link.md": "->x/memory.md", "mnt/memory.md": "",
	})
	w, err := workspace.Open(workspace.Folder{Dir: filepath.Join(outer, "ws")})
	must(t, err)
	defer w.Close()
	at := func(name string) workspace.Path {
		t.Helper()
		p, err := w.Apart(filepath.Join(outer, name))
		must(t, err)
		return p
	}
	for name, want := range map[string]string{
		"home/x/memory.md": "~/x/memory.md", "home/link.md": "~/x/memory.md", "home/new/folder/memory.md": "~/new/folder/memory.md",
		"mnt/memory.md": filepath.ToSlash(outer) + "/mnt/memory.md", "ws/inside.md": "inside.md",
	} {
		if got := at(name).String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	p := at("home/x/memory.md")
	if data, _, err := p.ReadFile(10); err != nil || string(data) != "mine" || p != at("home/link.md") || !p.IsApart() || at("ws/inside.md").IsApart() {
		t.Errorf("%s holds %q, %v", p, data, err)
	}
	if found, ok := w.FromURI(p.URI()); !ok || found != p {
		t.Errorf("%s is %v", p.URI(), found)
	}
	if found, err := w.Known(p.Abs()); err != nil || found != p {
		t.Errorf("%s is %v, %v", p.Abs(), found, err)
	}
	for _, name := range []string{p.Abs(), filepath.Join(outer, "home/x/settings.json"), "../home/x/memory.md"} {
		if got := resolve(w, name); got != outsideWorkspace {
			t.Errorf("an agent reaches %s as %s", name, got)
		}
	}
	if _, ok := w.FromURI("file://" + filepath.ToSlash(outer) + "/home/x/settings.json"); ok {
		t.Error("what lies beside it is known")
	}
	if len(w.Roots()) != 1 {
		t.Errorf("the folders are %v", w.Roots())
	}
	must(t, os.RemoveAll(filepath.Join(outer, "home/x")))
	tree(t, outer, map[string]string{"home/x/memory.md": "again"})
	if data, _, err := at("home/x/memory.md").ReadFile(10); err != nil || string(data) != "again" {
		t.Errorf("in a folder that was made again it holds %q, %v", data, err)
	}
	must(t, w.SetFolders(workspace.Folder{Dir: filepath.Join(outer, "home")}))
	if got := at("home/x/memory.md"); got.IsApart() || got.String() != "x/memory.md" {
		t.Errorf("in a folder that is open now it is %s", got)
	}
}
