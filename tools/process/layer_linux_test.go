package process

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatACommandChangesUnderALayer(t *testing.T) {
	r := newRunner(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	folder := filepath.Join(home, "a, b:c\\d")
	for name, text := range map[string]string{"changed": "before\n", "gone": "x\n", "modules/a": "x\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	layers, remove, ok := r.NewLayers([]string{folder})
	if !ok {
		t.Fatal("there is no layer")
	}
	defer remove()
	layers[0].Through = []string{filepath.Join(folder, "modules")}
	got, err := r.Run(context.Background(), Spec{
		Command: "echo after >changed; rm gone; mkdir sub; echo new >sub/new; echo through >modules/b; ls; id -u", Dir: folder,
		Confine: Confine{Level: Bubblewrap, Offline: true, Writable: []string{folder}, Layers: layers},
	}, nil)
	t.Logf("%+v %v", got, err)
	entries, _ := os.ReadDir(layers[0].Changes)
	for _, e := range entries {
		info, _ := e.Info()
		t.Log(info.Mode(), e.Name(), info.Size())
	}
	entries, _ = os.ReadDir(folder + "/modules")
	t.Log(entries)
}
