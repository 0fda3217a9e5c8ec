package change

import (
	"context"
	"os"
	"testing"

	"pillion/workspace/journal"
)

// TestWhatIsWrittenWhileItRecovers is kept: what was displaced at the end of a sidecar
// takes its place again, and what somebody writes there in that moment is in the journal.
func TestWhatIsWrittenWhileItRecovers(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "by the agent\n")
	b.write(".pillion-LEFT.tmp", "displaced\n")
	killed, err := journal.Open(b.Journal.Store.Dir(), journal.Options{})
	b.must(err)
	state := func(text string) *journal.State {
		return &journal.State{Type: journal.TypeFile, Data: []byte(text)}
	}
	_, err = killed.Begin(journal.Origin{CallID: "killed"}, []journal.Record{{
		Operation: string(Overwrite), Name: "a.txt", Path: b.abs("a.txt"), Before: state("before\n"), After: state("by the agent\n"), Temp: b.abs(".pillion-LEFT.tmp"),
	}})
	b.must(err)
	b.must(killed.Close())
	b.calls.Fails = func(call string) error {
		if call == "rename" {
			return os.WriteFile(b.abs("a.txt"), []byte("typed now\n"), 0o644)
		}
		return nil
	}
	if told := b.Recover(context.Background()); len(told) != 1 {
		t.Errorf("told %q", told)
	}
	b.want("a.txt", "displaced\n")
	entries, err := b.Journal.Store.Entries(journal.Query{Wants: func(e *journal.Entry) bool { return e.Tool == "recovery" }})
	if b.must(err); len(entries) != 1 {
		t.Fatalf("kept are %+v", entries)
	}
	content, err := b.Journal.Store.Content(entries[0])
	b.must(err)
	defer content.Close()
	if data, err := content.Read(entries[0].Records[0].Before); err != nil || string(data) != "typed now\n" {
		t.Errorf("kept is %q, %v", data, err)
	}
}
