package gitfile_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pillion/workspace/git/gitfile"
)

// Whatever is asked for, in any order, is what the file holds there.
func TestFileHoldsWhatItHolds(t *testing.T) {
	const step, blocks, size = 64, 3, 1000
	random := rand.New(rand.NewPCG(1, 2))
	whole := make([]byte, size)
	for i := range whole {
		whole[i] = byte(random.Uint32())
	}
	f, _ := open(t, whole, step, blocks)
	for range 2000 {
		at, n := random.IntN(size), 1+random.IntN(step)
		got, err := f.Exactly(int64(at), n)
		if at+n > size {
			if !errors.Is(err, gitfile.ErrEnd) {
				t.Fatalf("%d bytes at %d: %v", n, at, err)
			}
		} else if err != nil || !bytes.Equal(got, whole[at:at+n]) {
			t.Fatalf("%d bytes at %d: %q, %v", n, at, got, err)
		}
	}
	for _, at := range []int64{-1, size, 1 << 62} {
		if _, err := f.From(at); !errors.Is(err, gitfile.ErrEnd) {
			t.Errorf("at %d: %v", at, err)
		}
	}
}

// A file that is cut off while it is read ends where it now ends.
func TestFileIsCutOff(t *testing.T) {
	f, name := open(t, make([]byte, 1000), 64, 3)
	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := f.From(900); !errors.Is(err, gitfile.ErrEnd) {
		t.Errorf("behind the end: %v", err)
	}
}

func open(t *testing.T, content []byte, step, blocks int) (f *gitfile.File, name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gitfile.OpenFile(name, step, blocks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, name
}
