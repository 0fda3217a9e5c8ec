package change

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/workspace/journal"
)

// TestLateWritesAreKept: where nobody tells who has a file open, a program may write into
// it after it was replaced or deleted. Its text is in the journal, and the user is told.
func TestLateWritesAreKept(t *testing.T) {
	for name, do := range map[string]func(b trees) error{
		"replaced": func(b trees) error { _, err := b.commit(b.plan("file", "agent\n")); return err },
		"deleted":  func(b trees) error { return b.make(b.remove("file")) },
		"moved on": func(b trees) error { return b.make(b.move("other", "file")) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newTrees(t)
			told := make(chan string, 9)
			b.Journal.Tell = func(problem string) { told <- problem }
			b.calls.Blind = true
			b.late.pauses = slices.Repeat([]time.Duration{10 * time.Millisecond}, 6000)
			b.write("file", "before\n")
			b.write("other", "other\n")
			human, err := os.OpenFile(b.abs("file"), os.O_WRONLY|os.O_APPEND, 0)
			b.must(err)
			defer human.Close()
			b.must(do(b))
			_, err = human.WriteString("typed late\n")
			b.must(err)
			select {
			case problem := <-told:
				if !strings.Contains(problem, "file") || !strings.Contains(problem, "journal") {
					t.Errorf("told was %q", problem)
				}
			case <-time.After(time.Minute):
				t.Fatal("nobody was told")
			}
			entries, err := b.Journal.Store.Entries(journal.Query{})
			b.must(err)
			content, err := b.Journal.Store.Content(entries[0])
			b.must(err)
			defer content.Close()
			data, err := content.Read(entries[0].Records[0].Before)
			if string(data) != "before\ntyped late\n" || entries[0].State != journal.StateDone {
				t.Errorf("the journal has %q, %v, %s", data, err, entries[0].State)
			}
		})
	}
}

// TestOnlySoManyAreHeldOpen, and each only for a while.
func TestOnlySoManyAreHeldOpen(t *testing.T) {
	b := newTrees(t)
	b.late.pauses = []time.Duration{time.Hour}
	dir := t.TempDir()
	for range maxHeld + 5 {
		f, err := os.CreateTemp(dir, "")
		b.must(err)
		b.hold(f, "", b.path("file"))
	}
	if b.late.held != maxHeld {
		t.Errorf("%d are held", b.late.held)
	}
	c := newTrees(t)
	c.late.pauses = []time.Duration{time.Millisecond}
	f, err := os.CreateTemp(dir, "")
	c.must(err)
	c.hold(f, "", c.path("file"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		c.late.mu.Lock()
		held := c.late.held
		c.late.mu.Unlock()
		if held == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is held for ever")
		}
	}
}
