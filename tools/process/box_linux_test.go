package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWhatABoxShowsOfTheHome: programs and their parts, and none of the credentials that lie beside them, also where the home lies in
// a folder for temporary files; and of /run nothing in which somebody listens.
func TestWhatABoxShowsOfTheHome(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(home, ".fly/bin"))
	r := newRunner(t)
	for _, name := range []string{
		"project/a", ".fly/bin/fly", ".fly/lib/part", ".fly/config.yml", ".rye/shims/rye", ".rye/credentials", ".local/share/uv/python/p", ".local/share/uv/credentials/c", ".nvm/versions/node/v1/bin/node", ".ssh/id_x", ".config/gh/hosts.yml", ".cache/token",
	} {
		put(t, filepath.Join(home, name), "x\n")
	}
	put(t, filepath.Join(home, ".nvm/versions/node/v1/etc/npmrc"), "")
	held, ok := r.Box(Box{Folders: []string{filepath.Join(home, "project")}})
	if !ok {
		t.Fatal("there is no box here")
	}
	got, err := r.Run(t.Context(), Spec{Command: "cd && find . -type f | sort; ls -A /run", Dir: "/", Confine: held}, nil)
	want := "./.fly/bin/fly\n./.fly/lib/part\n./.local/share/uv/python/p\n./.nvm/versions/node/v1/bin/node\n./.nvm/versions/node/v1/etc/npmrc\n./.rye/shims/rye\n./project/a\n"
	if err != nil || got.Stdout != want {
		t.Errorf("%q, %v; want %q", got.Stdout, err, want)
	}
	if !slices.Contains(held.Blank, filepath.Join(home, ".nvm/versions/node/v1/etc/npmrc")) {
		t.Errorf("not hidden: %v", held.Blank)
	}
}

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
	write := func(name string) { put(t, filepath.Join(project, name), "text\n") }
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
