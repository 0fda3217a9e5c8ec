package change

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace/journal"
)

// crashing is set for the program that commits until it is killed.
const crashing = "PILLION_TEST_CRASHING"

// generation is the text of all three files after so many sets.
func generation(n int) string { return strings.Repeat(fmt.Sprintf("generation %d\n", n), 20_000) }

// TestCommitUntilKilled is the program that is killed; by itself it does nothing.
func TestCommitUntilKilled(t *testing.T) {
	dir, kept, _ := strings.Cut(os.Getenv(crashing), "|")
	if dir == "" {
		return
	}
	b := trees{newBenchAt(t, dir, kept)}
	fmt.Println("ready")
	from, to := "here/x", "there/x"
	for n := 1; ; n++ {
		var s Set
		for _, name := range []string{"a", "b", "c"} {
			s.Files = append(s.Files, b.plan(name, generation(n)))
		}
		for _, name := range []string{"tree/one", "tree/deep/two"} { // made again by nobody
			b.Write(name, "kept\n")
		}
		s.Tree = []TreeChange{b.move(from, to), b.remove("tree")}
		b.commitAs(fmt.Sprint(n), s)
		from, to = to, from
	}
}

// TestKilledAtAnyInstant: each file is wholly old or wholly new, and all of a set are
// the same; nothing is left behind, and the user hears of it once.
func TestKilledAtAnyInstant(t *testing.T) {
	interrupted := 0
	for range machine.Cases(3, 40) {
		dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "journal")
		b := newBenchAt(t, dir, kept)
		for _, name := range []string{"a", "b", "c"} {
			b.Write(name, generation(0))
		}
		b.Write("here/x", "x\n")
		b.Must(os.Mkdir(b.Abs("there"), 0o755))
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
	machine.Must(t, err)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	<-time.After(time.Duration(rand.IntN(250)) * time.Millisecond)
	child.Process.Kill() //nolint:errcheck // Wait tells
	child.Wait()         //nolint:errcheck // it was killed
}

// checkWhole looks at what is there.
func (b *bench) checkWhole(told []string) {
	b.Helper()
	b.checkNothingIsLeft()
	n := b.generation()
	for _, name := range []string{"a", "b", "c"} {
		if b.onDisk(name) != generation(n) {
			b.Errorf("%s is not as the others; told %q", name, told)
		}
	}
	if here, there := b.onDisk("here/x"), b.onDisk("there/x"); n%2 == 0 && here != "x\n" || n%2 == 1 && there != "x\n" || here == there {
		b.Errorf("after generation %d x is %q here and %q there; told %q", n, here, there, told)
	}
	if one, two := b.onDisk("tree/one"), b.onDisk("tree/deep/two"); len(told) > 0 && (one != two || one != "kept\n" && one != "<absent>") {
		b.Errorf("of the tree there is %q and %q", one, two)
	}
}

func (b *bench) generation() int {
	n := 0
	fmt.Sscanf(b.onDisk("a"), "generation %d", &n) //nolint:errcheck // checkWhole compares all of it
	return n
}

// revertLast puts back the last set that was made.
func (b *bench) revertLast() {
	b.Helper()
	n := b.generation()
	if n == 0 {
		return
	}
	b.Must(os.RemoveAll(b.Abs("tree")))
	r := b.revertCall(fmt.Sprint(n))
	r.Preview = nil
	if len(r.Conflicts) > 0 || b.generation() != n-1 || b.onDisk("tree/one") != "kept\n" {
		b.Errorf("the revert of %d gave %+v; now it is %d", n, r, b.generation())
	}
	b.checkWhole(nil)
}

// dying is set for the program that kills itself at a system call.
const dying = "PILLION_TEST_DYING"

// TestCommitAndDie is that program; by itself it does nothing.
func TestCommitAndDie(t *testing.T) {
	dir, rest, _ := strings.Cut(os.Getenv(dying), "|")
	kept, at, _ := strings.Cut(rest, "|")
	if dir == "" {
		return
	}
	last, err := strconv.Atoi(at)
	machine.Must(t, err)
	b := &faulty{trees: trees{newBenchAt(t, dir, kept)}}
	err = b.commitFailing(func(n int, _ string) error {
		if n == last {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			t.Fatalf("it lives on: %v", err)
		}
		return nil
	})
	fmt.Printf("made with %v in %d calls\n", err, len(b.called))
}

// TestKilledAtEachSystemCall, or at the first and last of each kind: a set that writes, makes, deletes, and moves over something is
// as if it had never been, or made, wherever it was cut off.
func TestKilledAtEachSystemCall(t *testing.T) {
	counted := newFaulty(t, t.TempDir())
	counted.Must(counted.commitFailing(func(int, string) error { return nil }))
	places := counted.places(machine.Cases(0, 1) == 1)
	var running sync.WaitGroup
	turn := make(chan struct{}, 4)
	var made atomic.Int64
	for _, i := range places {
		running.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if killedAt(t, i+1) {
				made.Add(1)
			}
		})
	}
	running.Wait()
	if made.Load() > int64(len(places)-len(places)/2) {
		t.Errorf("%d of %d kills left the set made: the test shows nothing", made.Load(), len(places))
	}
}

func killedAt(t *testing.T, n int) (made bool) {
	dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "journal")
	b := newFaulty(t, dir)
	b.Journal = newBenchAt(t, dir, kept).Journal
	child := exec.Command(os.Args[0], "-test.run=^TestCommitAndDie$")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", dying, dir, kept, n))
	if out, err := child.CombinedOutput(); err == nil {
		t.Errorf("at call %d it was not killed: %s", n, out)
	}
	told := b.Recover(context.Background())
	if made = b.isMade(); !made && b.all() != b.before {
		t.Errorf("killed at call %d: half of it is made; told %q:\n%s", n, told, b.all())
	}
	if again := b.Recover(context.Background()); len(again) > 0 {
		t.Errorf("killed at call %d: told again: %q", n, again)
	}
	if entries := b.entries(); len(entries) > 0 && entries[len(entries)-1].State == journal.StatePending {
		t.Errorf("killed at call %d: %+v", n, entries)
	}
	return made
}

// TestWhatIsWrittenWhileItRecovers is kept: what was displaced at the end of a sidecar
// takes its place again, and what somebody writes there in that moment is in the journal.
func TestWhatIsWrittenWhileItRecovers(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "by the agent\n")
	b.Write(".pillion-LEFT.tmp", "displaced\n")
	killed, err := journal.Open(b.Journal.Store.Dir(), journal.Options{})
	b.Must(err)
	state := func(text string) *journal.State {
		return &journal.State{Type: journal.TypeFile, Data: []byte(text)}
	}
	_, err = killed.Begin(journal.Origin{CallID: "killed"}, []journal.Record{{
		Operation: string(Overwrite), Name: "a.txt", Path: b.Abs("a.txt"), Before: state("before\n"), After: state("by the agent\n"), Temp: b.Abs(".pillion-LEFT.tmp"),
	}})
	b.Must(err)
	b.Must(killed.Close())
	b.calls.Fails = func(call string) error {
		if call == "rename" {
			return os.WriteFile(b.Abs("a.txt"), []byte("typed now\n"), 0o644)
		}
		return nil
	}
	if told := b.Recover(context.Background()); len(told) != 1 {
		t.Errorf("told %q", told)
	}
	b.want("a.txt", "displaced\n")
	entries := slices.DeleteFunc(b.entries(), func(e journal.Entry) bool { return e.Tool != "recovery" })
	if len(entries) != 1 {
		t.Fatalf("kept are %+v", entries)
	}
	if text := b.content(entries[0], entries[0].Records[0].Before); text != "typed now\n" {
		t.Errorf("kept is %q", text)
	}
}
