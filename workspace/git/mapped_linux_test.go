package git

import (
	"encoding/binary"
	"fmt"
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
	look := map[string]func(*objects, *graph) bool{
		"objects/pack/*.pack": func(o *objects, _ *graph) bool {
			_, err := o.commit(head)
			return err == nil
		},
		"objects/pack/*.idx": func(o *objects, _ *graph) bool {
			if x := o.stores[0].packs[0].index; x.data == nil {
				x.looks = manyLooks - 1
			}
			_, err := o.commit(head)
			o.sharedInPacks(head)
			return err == nil && len(o.beginning(head.String()[:4])) > 0
		},
		"objects/info/commit-graph": func(_ *objects, g *graph) bool {
			if l := g.layers[0]; l.data == nil {
				l.begin, l.reads = nil, manyLooks-1
			}
			at, found := g.find(head)
			_, err := g.hash(at)
			_, _, err2 := g.commit(at)
			return found && err == nil && err2 == nil && g.unchanged(at, newBloomKey("b"))
		},
	}
	for pattern, finds := range look {
		files, err := filepath.Glob(filepath.Join(gitDir, pattern))
		if err != nil || len(files) != 1 {
			t.Fatal(pattern, files, err)
		}
		o, g := openObjects(gitDir), openGraph(gitDir)
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
		o.close()
		g.close()
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

// So does an index, whose halves are read at the same time.
func TestAnIndexIsCutOffMeanwhile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "index")
	var text []byte
	const count = 12_000
	text = append(text, "DIRC\x00\x00\x00\x02"...)
	text = binary.BigEndian.AppendUint32(text, count)
	for i := range count {
		entry := make([]byte, 72)
		entry[61] = byte(copy(entry[entryFixed:], fmt.Sprintf("file%05d", i)))
		text = append(text, entry...)
	}
	text = append(text, make([]byte, indexTrailer)...)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	data, done, err := mapWithin(name, maxIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if entries, err := (&indexReader{text: data}).read(); err != nil || len(entries) != count || entries[count-1].path != "file11999" {
		t.Fatalf("as it is: %v, %d entries", err, len(entries))
	}
	for _, size := range []int64{0, int64(len(text) / 4), int64(len(text) * 3 / 4)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		if _, err := (&indexReader{text: data}).read(); err == nil {
			t.Errorf("cut off after %d bytes, and all is read", size)
		}
	}
}
