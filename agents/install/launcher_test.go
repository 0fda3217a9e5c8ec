package install

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// extension is a folder of one version of the extension, with a program.
func extension(t *testing.T, version string) (program string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pillion-"+version)
	program = filepath.Join(dir, "bin", "pillion")
	write(t, filepath.Join(dir, "package.json"), `{"name": "pillion", "engines": {"vscode": "^1.106.0"}}`)
	write(t, program, "program "+version)
	return program
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o755))
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v, want %q", path, got, err, want)
	}
}

// The launcher outlives the folder that it came from, and is as new as the newest.
func TestTheLauncherLasts(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "data", "pillion")
	start := func(program, version, want string) {
		t.Helper()
		if got, err := Lasting(program, version, launcher); got != launcher || err != nil {
			t.Fatalf("%s: %s, %v", version, got, err)
		}
		holds(t, launcher, want)
	}
	first, second := extension(t, "0.1.0"), extension(t, "0.2.0")
	start(first, "0.1.0", "program 0.1.0")
	must(t, os.RemoveAll(filepath.Dir(filepath.Dir(first))))
	holds(t, launcher, "program 0.1.0")
	start(second, "0.2.0", "program 0.2.0")
	start(extension(t, "0.1.9"), "0.1.9", "program 0.2.0") // another editor has an older one
	start(extension(t, "0.10.0"), "0.10.0", "program 0.10.0")
	if info, err := os.Stat(launcher); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Dir(launcher))
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// A program that the user installed stays what agents start.
func TestAProgramOfOnesOwnIsNoLauncher(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "pillion")
	own := filepath.Join(t.TempDir(), "bin", "pillion")
	write(t, own, "own")
	write(t, filepath.Join(filepath.Dir(filepath.Dir(own)), "package.json"), `{"name": "something else"}`)
	if got, err := Lasting(own, "1.0.0", launcher); got != own || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := os.Stat(launcher); err == nil {
		t.Error("there is a launcher")
	}
	if got, err := Lasting(extension(t, "1.0.0"), "1.0.0", ""); err != nil || filepath.Base(filepath.Dir(got)) != "bin" {
		t.Errorf("without a home: %s, %v", got, err)
	}
}

func TestWhereTheLauncherIs(t *testing.T) {
	for _, c := range []struct{ goos, data, want string }{
		{"linux", "", "/home/me/.local/share/pillion/bin/pillion"},
		{"linux", "/data", "/data/pillion/bin/pillion"},
		{"linux", "relative", "/home/me/.local/share/pillion/bin/pillion"},
		{"darwin", "/data", "/home/me/Library/Application Support/pillion/bin/pillion"},
		{"windows", "/data", "/data/pillion/bin/pillion.exe"},
		{"windows", "", ""},
	} {
		if got := filepath.ToSlash(Launcher(c.goos, "/home/me", func(string) string { return c.data })); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestStranded(t *testing.T) {
	home, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	there := filepath.Join(t.TempDir(), "pillion")
	write(t, there, "")
	set := func(agent, binary string) {
		t.Helper()
		plan, err := For(agent, Options{Binary: binary, Home: home})
		if err == nil {
			err = plan.Apply()
		}
		must(t, err)
	}
	set("claude", there)
	set("codex", gone)
	if got := Stranded(Options{Binary: there, Home: home}); len(got) != 1 || got["codex"] != gone {
		t.Errorf("%v", got)
	}
}
