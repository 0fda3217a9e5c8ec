//go:build unix

package way

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAsTheKernelGoes: in trees of folders and links, a path leads where the kernel says; and where it says that nothing
// is there, it does so once the folders on the way are made.
func TestAsTheKernelGoes(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	there, missing := 0, 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 0))
		dir := fmt.Sprint(top, "/", seed)
		some := func() string {
			var out []string
			for range 1 + r.IntN(4) {
				out = append(out, []string{"a", "b", "c", "..", ".", "a", "b", "c", "d"}[r.IntN(9)])
			}
			return strings.Join(out, "/")
		}
		if err := os.MkdirAll(dir+"/x/y", 0o755); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			at := dir + "/x/y/" + some()
			if r.IntN(3) == 0 {
				_ = os.MkdirAll(at, 0o755) // it may be a link to nothing, or go through one
				continue
			}
			to := some()
			if r.IntN(4) == 0 {
				to = dir + "/x/y/" + to
			}
			_ = os.Symlink(to, at) // likewise
		}
		for range 20 {
			path := dir + "/x/y/" + some()
			var places []string
			end, ok := new(Walker).Follow(path, func(at, _ string) { places = append(places, at) })
			if !strings.HasPrefix(end, dir) {
				continue // it climbed out of the tree
			}
			real, err := filepath.EvalSymlinks(path)
			if err == nil {
				if there++; !ok || end != real {
					t.Fatalf("%s leads to %s, and the kernel says %s", path, end, real)
				}
				continue
			}
			if !ok {
				continue
			}
			for _, at := range places {
				if os.MkdirAll(at, 0o755) != nil {
					ok = false // a dangling link is in the way of another place
				}
			}
			if real, err = filepath.EvalSymlinks(path); !ok || err != nil {
				continue
			}
			if missing++; end != real {
				t.Fatalf("%s leads to %s, and once that is there the kernel says %s", path, end, real)
			}
		}
	}
	if there < 50 || missing < 50 {
		t.Errorf("%d paths led somewhere and %d could come to: the trees are too poor", there, missing)
	}
}

func TestAsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{Join("/a/b", "../c"), "/a/b/../c"},
		{Join("/", "c"), "/c"},
		{Join("/a", "/b/../c"), "/b/../c"},
		{Dir("/a/b/../c.conf"), "/a/b/.."},
		{Dir("/a//"), "/"},
		{Dir("/a"), "/"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
}
