package change

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// crashing is set for the program that commits until it is killed.
const crashing = "PILLION_TEST_CRASHING"

// generation is the text of all three files after so many sets.
func generation(n int) string { return strings.Repeat(fmt.Sprintf("generation %d\n", n), 20_000) }

func committerIn(t testing.TB, dir, kept string) *Committer {
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	must(t, err)
	store, err := journal.Open(kept, journal.Options{})
	must(t, err)
	t.Cleanup(func() { store.Close(); w.Close() })
	return &Committer{Documents: document.NewStore(w), Journal: &Journal{Store: store}}
}

// TestCommitUntilKilled is the program that is killed; by itself it does nothing.
func TestCommitUntilKilled(t *testing.T) {
	dir, kept, _ := strings.Cut(os.Getenv(crashing), "|")
	if dir == "" {
		return
	}
	c := committerIn(t, dir, kept)
	fmt.Println("ready")
	for n := 1; ; n++ {
		snap := c.Documents.Snapshot(limit)
		var s Set
		for _, name := range []string{"a", "b", "c"} {
			p, err := c.Documents.Workspace().Resolve(name)
			must(t, err)
			before, err := snap.Read(p, "")
			must(t, err)
			f, err := New(before, document.Content{Text: generation(n), Encoding: document.UTF8})
			must(t, err)
			s.Files = append(s.Files, f)
		}
		s.Tree = treeChanges(t, c, snap, n)
		if _, err := c.Commit(context.Background(), s, journal.Origin{CallID: fmt.Sprint(n), Agent: "claude"}); err != nil {
			t.Fatal(err)
		}
	}
}

// treeChanges moves x to and fro, and deletes the tree in odd turns; in even ones it
// is made again by a hand that is nobody's.
func treeChanges(t *testing.T, c *Committer, snap *document.Snapshot, n int) []TreeChange {
	path := func(name string) workspace.Path {
		p, err := c.Documents.Workspace().Resolve(name)
		must(t, err)
		return p
	}
	from, to := "here/x", "there/x"
	if n%2 == 0 {
		from, to = to, from
	}
	move, err := NewMove(snap, path(from), path(to), false)
	must(t, err)
	makeTree(t, c.Documents.Workspace().Roots()[0].Abs())
	remove, err := NewDelete(c.Documents.Snapshot(limit), path("tree"), true)
	must(t, err)
	return []TreeChange{move, remove}
}

func makeTree(t *testing.T, dir string) {
	for _, name := range []string{"tree/one", "tree/deep/two"} {
		name = filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte("kept\n"), 0o644))
	}
}

// TestKilledAtAnyInstant: each file is wholly old or wholly new, and all of a set are
// the same; nothing is left behind, and the user hears of it once.
func TestKilledAtAnyInstant(t *testing.T) {
	interrupted := 0
	for range machine.Cases(3, 40) {
		dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "journal")
		b := &bench{committerIn(t, dir, kept), t, dir, nil}
		for _, name := range []string{"a", "b", "c"} {
			b.write(name, generation(0))
		}
		b.write("here/x", "x\n")
		b.must(os.Mkdir(b.abs("there"), 0o755))
		killAfterAWhile(t, dir, kept)
		told := b.Recover(context.Background())
		if interrupted += len(told); len(told) > 1 {
			t.Errorf("of one set it told %q", told)
		}
		b.checkWhole(told)
		if again := b.Recover(context.Background()); len(again) > 0 {
			t.Errorf("told again: %q", again)
		}
		if left, err := b.Journal.Store.Interrupted(); err != nil || len(left) > 0 {
			t.Errorf("left to repair: %+v, %v", left, err)
		}
		b.revertLast()
	}
	t.Logf("%d sets were being made; TestKilledAtEachSystemCall is sure to meet one", interrupted)
}

func killAfterAWhile(t *testing.T, dir, kept string) {
	child := exec.Command(os.Args[0], "-test.run=^TestCommitUntilKilled$")
	child.Env = append(os.Environ(), crashing+"="+dir+"|"+kept)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	must(t, err)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	<-time.After(time.Duration(rand.IntN(250)) * time.Millisecond)
	child.Process.Kill() //nolint:errcheck // Wait tells
	child.Wait()         //nolint:errcheck // it was killed
}

// checkWhole looks at what is there.
func (b *bench) checkWhole(told []string) {
	b.t.Helper()
	b.checkNothingIsLeft()
	n := b.generation()
	for _, name := range []string{"a", "b", "c"} {
		if b.onDisk(name) != generation(n) {
			b.t.Errorf("%s is not as the others; told %q", name, told)
		}
	}
	if here, there := b.onDisk("here/x"), b.onDisk("there/x"); n%2 == 0 && here != "x\n" || n%2 == 1 && there != "x\n" || here == there {
		b.t.Errorf("after generation %d x is %q here and %q there; told %q", n, here, there, told)
	}
	if one, two := b.onDisk("tree/one"), b.onDisk("tree/deep/two"); len(told) > 0 && (one != two || one != "kept\n" && one != "<absent>") {
		b.t.Errorf("of the tree there is %q and %q", one, two)
	}
}

func (b *bench) generation() int {
	n := 0
	fmt.Sscanf(b.onDisk("a"), "generation %d", &n) //nolint:errcheck // checkWhole compares all of it
	return n
}

// revertLast puts back the last set that was made.
func (b *bench) revertLast() {
	b.t.Helper()
	n := b.generation()
	if n == 0 {
		return
	}
	b.must(os.RemoveAll(b.abs("tree")))
	r := b.revertCall(fmt.Sprint(n))
	r.Preview = nil
	if len(r.Conflicts) > 0 || b.generation() != n-1 || b.onDisk("tree/one") != "kept\n" {
		b.t.Errorf("the revert of %d gave %+v; now it is %d", n, r, b.generation())
	}
	b.checkWhole(nil)
}
