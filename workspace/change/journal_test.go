package change

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/journal"
)

var errFull = errors.New("no space left on device")

// TestWhatCannotBeKeptIsNotMade: whichever half of the journal's work fails, nothing is
// changed, nothing is left, and the agent is told what to say.
func TestWhatCannotBeKeptIsNotMade(t *testing.T) {
	fails := func() error { return errFull }
	for name, faults := range map[string]journal.Faults{"writing": {Write: fails}, "syncing": {Sync: fails}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Write("a.txt", "one\n")
			b.Write("b.txt", "one\n")
			doc := b.show("b.txt")
			b.Journal.Store.Break(faults)
			err := b.wantFault(fault.ExecutionFailed, b.plan("a.txt", "two\n"), b.plan("b.txt", "two\n"), b.plan("new/c.txt", "two\n"))
			if !strings.Contains(err.Error(), "nothing was changed: the journal cannot record it: "+errFull.Error()) || !strings.Contains(fault.From(err).Hint, "journal.mode") {
				t.Errorf("said %v", err)
			}
			b.want("a.txt", "one\n")
			b.want("new/c.txt", "<absent>")
			if b.path("new").Exists() || doc.text != "one\n" {
				t.Errorf("left: the folder %v, the buffer %q", b.path("new").Exists(), doc.text)
			}
			b.Journal.Store.Break(journal.Faults{})
			b.mustCommit(b.plan("a.txt", "two\n")) // it is not broken for ever
		})
	}
}

// TestTheHumanMayPreferChangesWithoutAJournal, and hears once that they are.
func TestTheHumanMayPreferChangesWithoutAJournal(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one\n")
	var told []string
	b.Journal.Tell = func(problem string) { told = append(told, problem) }
	b.Journal.Configure(JournalPrefer, false)
	b.Journal.Store.Break(journal.Faults{Write: func() error { return errFull }})
	b.mustCommit(b.plan("a.txt", "two\n"))
	b.mustCommit(b.plan("a.txt", "three\n"))
	b.want("a.txt", "three\n")
	if len(told) != 1 || !strings.Contains(told[0], "cannot be reverted") {
		t.Errorf("told %q", told)
	}
	b.Journal.Store.Break(journal.Faults{})
	b.Journal.Configure(JournalOff, false)
	b.mustCommit(b.plan("a.txt", "four\n"))
	if entries, err := b.History(Selection{}, 0); err != nil || len(entries) != 0 {
		t.Errorf("kept %+v, %v", entries, err)
	}
}

// TestARevertIsWholeOrNothing: when one of its files fails, the others are as they were.
func TestARevertIsWholeOrNothing(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one\n")
	b.Write("b.txt", "one\n")
	doc := b.show("b.txt")
	b.mustCommit(b.plan("a.txt", "two\n"), b.plan("b.txt", "two\n"))
	b.editor.onEdit = func(*openDocument, BufferEdit) (BufferResult, error) { return BufferResult{}, errFull }
	r, err := b.Revert(context.Background(), Selection{CallID: "a call"}, journal.Origin{CallID: "back"}, false)
	if fault.CodeOf(err) != fault.ExecutionFailed {
		t.Errorf("%+v, %v", r, err)
	}
	b.want("a.txt", "two\n")
	b.want("b.txt", "two\n")
	b.editor.onEdit = nil
	if r := b.revert(Selection{CallID: "a call"}, "back"); len(r.Reverted) != 2 {
		t.Errorf("%+v", r)
	}
	b.want("a.txt", "one\n")
	if doc.text != "one\n" {
		t.Errorf("the buffer is %q", doc.text)
	}
}

// TestARevertOfOneFile leaves the others of its change sets as they are, and what it
// left can be put back later.
func TestARevertOfOneFile(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one\n")
	b.Write("b.txt", "one\n")
	b.mustCommit(b.plan("a.txt", "two\n"), b.plan("b.txt", "two\n"))
	if r := b.revert(Selection{CallID: "a call", Path: "b.txt"}, "back"); len(r.Reverted) != 1 || len(r.Conflicts) != 0 {
		t.Errorf("%+v", r)
	}
	b.want("a.txt", "two\n")
	b.want("b.txt", "one\n")
	if entries, err := b.History(Selection{CallID: "a call"}, 0); err != nil || entries[0].State != journal.StatePartlyReverted {
		t.Errorf("kept %+v, %v", entries, err)
	}
	b.revert(Selection{CallID: "a call"}, "rest")
	b.want("a.txt", "one\n")
}

// TestALinkInPlaceOfAFileIsLeftAlone, and so is what it leads to, which may have the very bytes.
func TestALinkInPlaceOfAFileIsLeftAlone(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one\n")
	b.mustCommit(b.plan("a.txt", "two\n"))
	b.Remove("a.txt")
	b.Write("mine.txt", "two\n")
	b.Link("mine.txt", "a.txt")
	if r := b.revert(Selection{CallID: "a call"}, "back"); len(r.Conflicts) != 1 || len(r.Reverted) != 0 {
		t.Errorf("%+v", r)
	}
	b.want("mine.txt", "two\n")
}

// TestWhatComesBackLasts, or is not there: when the folder cannot be synced it is taken
// away again.
func TestWhatComesBackLasts(t *testing.T) {
	b := newTrees(t)
	b.Write("gone/a", "text")
	b.commitAs("a call", Set{Tree: []TreeChange{b.remove("gone")}})
	failed := false
	b.calls.Fails = func(call string) error {
		if failed || call != "sync" {
			return nil
		}
		failed = true
		return errFull
	}
	back := func() error {
		_, err := b.Revert(context.Background(), Selection{CallID: "a call"}, journal.Origin{CallID: "back"}, false)
		return err
	}
	if err := back(); err == nil || b.all() != "" {
		t.Errorf("%v; there is %q", err, b.all())
	}
	b.Must(back())
	b.want("gone/a", "text")
}

// TestChangesByOthersInBetween: two changes of one session with another one's between
// them are put back around it, where it is elsewhere, and left alone where it is not.
func TestChangesByOthersInBetween(t *testing.T) {
	b := newBench(t)
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	b.Write("a.txt", text)
	b.Write("b.txt", text)
	edit := func(session, name, old, new string) {
		t.Helper()
		_, err := b.Commit(context.Background(), Only(b.plan(name, strings.Replace(b.onDisk(name), old, new, 1)), ""), journal.Origin{CallID: session, SessionID: session})
		b.Must(err)
	}
	edit("ada", "a.txt", "2\n", "ada 2\n")
	edit("bob", "a.txt", "5\n", "bob 5\n")
	edit("ada", "a.txt", "8\n", "ada 8\n")
	edit("ada", "b.txt", "2\n", "ada 2\n")
	edit("bob", "b.txt", "ada 2\n", "bob 2\n")
	r := b.revert(Selection{SessionID: "ada"}, "back")
	if b.want("a.txt", strings.Replace(text, "5\n", "bob 5\n", 1)); len(r.Merged)+len(r.Reverted) != 1 || len(r.Conflicts) != 1 || r.Conflicts[0] != "b.txt" {
		t.Errorf("%+v", r)
	}
	b.want("b.txt", strings.Replace(text, "2\n", "bob 2\n", 1))
	entries, err := b.History(Selection{SessionID: "ada"}, 0)
	b.Must(err)
	var states []string
	for _, e := range entries {
		states = append(states, string(e.State))
	}
	if strings.Join(states, " ") != "done reverted reverted" {
		t.Errorf("the entries are %q", states)
	}
	// What was left alone can be put back once the other's change is.
	b.revert(Selection{CallID: "bob"}, "back, bob")
	b.revert(Selection{SessionID: "ada"}, "again")
	b.want("a.txt", text)
	b.want("b.txt", text)
}

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
			b.Write("file", "before\n")
			b.Write("other", "other\n")
			human, err := os.OpenFile(b.Abs("file"), os.O_WRONLY|os.O_APPEND, 0)
			b.Must(err)
			defer human.Close()
			b.Must(do(b))
			_, err = human.WriteString("typed late\n")
			b.Must(err)
			select {
			case problem := <-told:
				if !strings.Contains(problem, "file") || !strings.Contains(problem, "journal") {
					t.Errorf("told was %q", problem)
				}
			case <-time.After(time.Minute):
				t.Fatal("nobody was told")
			}
			last := b.entries()[0]
			if text := b.content(last, last.Records[0].Before); text != "before\ntyped late\n" || last.State != journal.StateDone {
				t.Errorf("the journal has %q, %s", text, last.State)
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
		b.Must(err)
		b.hold(f, "", b.path("file"))
	}
	if b.late.held != maxHeld {
		t.Errorf("%d are held", b.late.held)
	}
	c := newTrees(t)
	c.late.pauses = []time.Duration{time.Millisecond}
	f, err := os.CreateTemp(dir, "")
	c.Must(err)
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
