package odb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// An index finds each name of a pack, its neighbours, and those that begin like it.
func TestPackIndex(t *testing.T) {
	top := t.TempDir()
	git := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("", "init", "-q")
	var stream strings.Builder
	for i := range 3000 {
		text := fmt.Sprint("file ", i)
		fmt.Fprintf(&stream, "blob\ndata %d\n%s\n", len(text), text)
	}
	git(stream.String(), "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet")
	packs, err := filepath.Glob(filepath.Join(top, ".git", "objects", "pack", "*.idx"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	index, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	x := &packIndex{path: packs[0]}
	defer x.close()
	var names []string
	for line := range strings.Lines(git(string(index), "show-index")) {
		fields := strings.Fields(line) // offset, name, checksum
		names = append(names, fields[1])
		offset, found, err := x.find(plumbing.NewHash(fields[1]))
		if err != nil || !found || fmt.Sprint(offset) != fields[0] {
			t.Fatalf("%s: at %d, %v, %v; git says %s", fields[1], offset, found, err, fields[0])
		}
	}
	if len(names) != 3000 || x.count != len(names) {
		t.Fatalf("%d names, %d in the index", len(names), x.count)
	}
	for i, name := range names {
		near := names[max(i-1, 0):min(i+2, len(names))]
		near = slices.DeleteFunc(slices.Clone(near), func(n string) bool { return n == name })
		if got := fmt.Sprint(x.neighbours(plumbing.NewHash(name))); got != fmt.Sprint(near) {
			t.Fatalf("beside %s: %s; they are %s", name, got, near)
		}
		var begin []string
		err := x.beginning(name[:3], func(h plumbing.Hash) { begin = append(begin, h.String()) })
		alike := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n[:3] != name[:3] })
		if err != nil || !slices.Equal(begin, alike) {
			t.Fatalf("%s: %v, %v; they are %v", name[:3], begin, err, alike)
		}
	}
	for _, other := range []string{strings.Repeat("0", 40), strings.Repeat("f", 40), strings.Repeat("7", 40)} {
		if _, found, err := x.find(plumbing.NewHash(other)); found || err != nil {
			t.Errorf("%s: %v, %v", other, found, err)
		}
	}
}
