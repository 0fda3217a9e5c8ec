package policy

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListedOptionsWriteNothing: the real git and go are the oracle of the table. Each
// option is given the name of the user's file as its value, glued to it and as a word of
// its own; no file is another one afterwards, and none came.
func TestListedOptionsWriteNothing(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a.go": "// Package m is empty.\npackage m\n", "victim": "the user's\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(argv ...string) {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local")
		_ = cmd.Run() //nolint:errcheck // many values mean nothing to their option
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "x")
	before := treeOf(t, dir)
	if len(before) != len(files) {
		t.Fatalf("the folder has %v", before)
	}
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		prefix := words(name)
		if prefix[0] != "git" && prefix[0] != "go" || name == "go test" { // which runs what is in the tests
			continue
		}
		for _, option := range listed[name] {
			if option == "-a" && prefix[0] == "go" || option == "-race" { // they build everything again
				continue
			}
			plain := strings.TrimRight(option, "=#")
			run(append(slices.Clone(prefix), plain, "victim")...)
			if plain != option {
				run(append(slices.Clone(prefix), plain+strings.TrimPrefix(option[len(plain):], "#")+"victim")...)
			}
			tried++
			if after := treeOf(t, dir); !maps.Equal(before, after) {
				t.Fatalf("%s %s: the folder has %v, and had %v", name, option, after, before)
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d options were tried", tried)
	}
}

// treeOf are the files in a folder, without a repository's own, by what they hold.
func treeOf(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
