package git_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace/git"
)

// Whatever is wrong with a repository's files, what reads them says so or reads
// past it: it neither panics nor hangs.
func TestDamagedRepositories(t *testing.T) {
	r := newRig(t)
	for i := range 12 {
		r.write("dir/a", numbered(40+i))
		r.write("b", strconv.Itoa(i/2))
		r.commitAt(100 + i)
	}
	r.git("repack", "-adfq", "--depth=20")
	r.git("commit-graph", "write", "--reachable", "--changed-paths")
	r.git("replace", "--graft", "HEAD~3")
	r.git("pack-refs", "--all")
	files, err := filepath.Glob(r.path(".git/objects/pack/pack-*"))
	r.must(err)
	files = append(files, r.path(".git/objects/info/commit-graph"), r.path(".git/packed-refs"))
	random := rand.New(rand.NewPCG(1, 2))
	failed, read := 0, 0
	for range machine.Cases(60, 400) {
		file := files[random.IntN(len(files))]
		whole, err := os.ReadFile(file)
		r.must(err)
		bad := append([]byte(nil), whole...)
		switch random.IntN(5) {
		case 0:
			bad = bad[:random.IntN(len(bad))]
		default:
			for range 1 + random.IntN(8) {
				bad[random.IntN(len(bad))] ^= byte(1 << random.IntN(8))
			}
		}
		r.must(os.Chmod(file, 0o644))
		r.must(os.WriteFile(file, bad, 0o644))
		for _, replaced := range []string{"true", "false"} { // the commit-graph is read in the second
			r.write(".git/config", "[core]\nrepositoryFormatVersion = 0\nuseReplaceRefs = "+replaced+"\n")
			for _, try := range []func() error{
				func() error {
					_, err := git.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: 100})
					return err
				},
				func() error {
					o := r.in("dir/a")
					o.Limit = 100
					_, err := git.Log(context.Background(), r.root, o)
					return err
				},
				func() error {
					_, err := git.Show(context.Background(), r.root, git.ShowOptions{Dir: r.top, Ref: "main~2", Context: 3})
					return err
				},
			} {
				var known *fault.Error
				err := try()
				if err != nil && !errors.As(err, &known) {
					t.Errorf("%s: %v", filepath.Base(file), err)
				}
				if read++; err != nil {
					failed++
				}
			}
		}
		r.must(os.WriteFile(file, whole, 0o644))
	}
	if failed < 100 || failed == read {
		t.Errorf("%d of %d failed", failed, read)
	}
}

// Several may ask at the same time, and git may pack anew meanwhile.
func TestManyAskAtOnce(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.write("a", strconv.Itoa(i/3))
		r.commitAt(100 + i)
	}
	want := []int{20, 7}
	var asking sync.WaitGroup
	for n := range 4 {
		asking.Go(func() {
			for i := range 30 {
				o := git.LogOptions{Dir: r.top, Limit: 100}
				if (n+i)%2 == 1 {
					o = r.in("a")
					o.Limit = 100
				}
				got, err := git.Log(context.Background(), r.root, o)
				if err != nil || len(got) != want[(n+i)%2] {
					t.Errorf("%d commits: %v", len(got), err)
					return
				}
			}
		})
	}
	r.git("repack", "-adfq")
	r.git("commit-graph", "write", "--reachable")
	r.git("repack", "-adfq", "--depth=3")
	asking.Wait()
}

// A missing object far back is told of, and what comes before it is not lost.
func TestMissingHistory(t *testing.T) {
	r := newRig(t)
	for i := range 5 {
		r.write("a", strconv.Itoa(i))
		r.commitAt(100 + i)
	}
	r.remove(".git/objects/" + objectFile(r, "HEAD~4"))
	if got := len(r.logOf(2)); got != 2 {
		t.Errorf("got %d", got)
	}
	_, err := git.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: 10})
	if f := asFault(t, err, fault.GitError, "missing"); !strings.Contains(f.Message, "git fetch") {
		t.Errorf("got %v", f)
	}
}

func (r *rig) logOf(limit int) []git.LogCommit {
	r.Helper()
	got, err := git.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: limit})
	r.must(err)
	return got
}
