package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A large index is read in two halves, of which comes what comes of it as a whole,
// whatever is wrong with it.
func TestALargeIndexIsReadInHalves(t *testing.T) {
	const count = 12_000
	top := t.TempDir()
	git := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, "100644 %040x\tfolder%02d/file%05d\n", i+1, i/500, i)
	}
	git("", "init", "-q")
	git(lines.String(), "update-index", "--index-info")
	git("", "update-index", "--skip-worktree", "--", "folder00/file00007", "folder23/file11999")
	random := rand.New(rand.NewPCG(1, 2))
	for _, version := range []string{"3", "4"} {
		git("", "update-index", "--index-version", version)
		text, err := os.ReadFile(filepath.Join(top, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for i := range 40 {
			bad := slices.Clone(text)
			switch i {
			case 0:
			case 1: // the length of the first path, by which the second half is looked for
				bad[indexHeader+61] ^= 8
			default:
				bad[indexHeader+random.IntN(len(bad)-indexHeader)] ^= byte(1 << random.IntN(8))
			}
			got, err := (&indexReader{text: bad}).read()
			whole := &indexReader{text: bad[:len(bad)-indexTrailer], at: indexHeader}
			whole.version = whole.number(4)
			want := make([]indexEntry, count)
			wantErr := whole.some(want, len(whole.text))
			if wantErr == nil {
				wantErr = whole.extensions()
			}
			if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
				t.Fatalf("version %s: %v, as a whole %v", version, err, wantErr)
			}
			if err != nil {
				failed++
			}
		}
		if failed == 0 || failed >= 39 {
			t.Errorf("version %s: %d failed", version, failed)
		}
	}
}
