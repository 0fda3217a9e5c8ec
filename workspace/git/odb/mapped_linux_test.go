package odb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A file that is cut off while it is looked at is as one that is damaged: it does not
// end the program.
func TestFilesAreCutOffMeanwhile(t *testing.T) {
	gitDir, head := packedRepository(t)
	look := map[string]func(*Objects, *Graph) bool{
		"objects/pack/*.pack": func(o *Objects, _ *Graph) bool {
			_, err := o.Commit(head)
			return err == nil
		},
		"objects/pack/*.idx": func(o *Objects, _ *Graph) bool {
			if x := o.stores[0].packs[0].index; x.data == nil {
				x.looks = manyLooks - 1
			}
			_, err := o.Commit(head)
			o.SharedInPacks(head)
			return err == nil && len(o.beginning(head.String()[:4])) > 0
		},
		"objects/info/commit-graph": func(_ *Objects, g *Graph) bool {
			if l := g.layers[0]; l.data == nil {
				l.begin, l.reads = nil, manyLooks-1
			}
			at, found := g.Find(head)
			_, err := g.Hash(at)
			_, _, err2 := g.Commit(at)
			return found && err == nil && err2 == nil && g.Unchanged(at, NewBloomKey("b"))
		},
	}
	for pattern, finds := range look {
		files, err := filepath.Glob(filepath.Join(gitDir, pattern))
		if err != nil || len(files) != 1 {
			t.Fatal(pattern, files, err)
		}
		o, g := Open(gitDir), OpenGraph(gitDir)
		if !finds(o, g) {
			t.Errorf("%s: as it is, nothing is found", pattern)
		}
		whole, err := os.ReadFile(files[0])
		for _, err := range []error{err, os.Chmod(files[0], 0o600), os.Truncate(files[0], 0)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if finds(o, g) {
			t.Errorf("%s: cut off, and all is found", pattern)
		}
		o.Close()
		g.Close()
		if err := os.WriteFile(files[0], whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// packedRepository has all its objects in a pack, and its commits in a commit-graph with
// Bloom filters.
func packedRepository(t *testing.T) (gitDir string, head plumbing.Hash) {
	t.Helper()
	top := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for _, text := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(top, "a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-q", "-m", text)
	}
	git("repack", "-adq")
	git("commit-graph", "write", "--reachable", "--changed-paths")
	return filepath.Join(top, ".git"), plumbing.NewHash(git("rev-parse", "HEAD"))
}
