package process

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatALayerHolds: the folder is as it was, what was changed in it is in the layer.
func TestWhatALayerHolds(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	r := newRunner(t)
	folder := filepath.Join(home, `a, b:c\d=e`)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		text, _ := os.ReadFile(path) //nolint:errcheck // "" then
		return string(text)
	}
	write("changed", "before\n")
	write("gone", "x\n")
	write("modules/a", "x\n")
	layers, remove, ok := r.NewLayers([]string{folder})
	if !ok {
		t.Fatal("there is no layer here: the kernel is older than 5.11, or does not let users mount overlayfs")
	}
	got, err := r.Run(t.Context(), Spec{
		Command: "echo after >changed; rm gone; mkdir sub; echo new >sub/new; echo b >modules/b; cat changed; ls gone", Dir: folder,
		Confine: Confine{Level: Bubblewrap, Offline: true, Writable: []string{folder}, Layers: layers},
	}, nil)
	if err != nil || got.Stdout != "after\n" || got.ExitCode == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	for path, want := range map[string]string{
		filepath.Join(folder, "changed"): "before\n", filepath.Join(folder, "gone"): "x\n", filepath.Join(folder, "sub/new"): "", filepath.Join(folder, "modules/b"): "",
		filepath.Join(layers[0].Changes, "changed"): "after\n", filepath.Join(layers[0].Changes, "sub/new"): "new\n", filepath.Join(layers[0].Changes, "modules/b"): "b\n",
	} {
		if text := read(path); text != want {
			t.Errorf("%s has %q, want %q", path, text, want)
		}
	}
	remove()
	if _, err := os.Lstat(filepath.Dir(layers[0].Changes)); err == nil {
		t.Error("the layer stays")
	}
	if _, _, ok := r.NewLayers([]string{folder, filepath.Join(folder, "modules")}); ok {
		t.Error("there are layers over folders in each other")
	}
}
