package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
)

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	machine.Must(t, err)
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // a test may have closed it
	return s
}

func file(text string) *State { return &State{Type: TypeFile, Data: []byte(text), Mode: 0o644} }

func edit(before, after string) []Record {
	return []Record{{Operation: "overwrite", Name: "a.txt", Path: "/w/a.txt", Before: file(before), After: file(after)}}
}

// made records a change that is made at once.
func made(t *testing.T, s *Store, o Origin, records []Record) {
	t.Helper()
	p, err := s.Begin(o, records)
	machine.Must(t, err)
	machine.Must(t, p.Done(nil))
}

// age has a file be older than the journal keeps any.
func age(t *testing.T, name string) {
	t.Helper()
	old := time.Now().Add(-31 * 24 * time.Hour)
	machine.Must(t, os.Chtimes(name, old, old))
}

func list(t *testing.T, s *Store) []Entry {
	t.Helper()
	entries, err := s.Entries(Query{})
	machine.Must(t, err)
	return entries
}

func text(t *testing.T, s *Store, e Entry, st *State) string {
	t.Helper()
	c, err := s.Content(e)
	machine.Must(t, err)
	defer c.Close()
	data, err := c.Read(st)
	machine.Must(t, err)
	return string(data)
}

func TestWhatWasBegunIsThereForEverybody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s, other := open(t, dir, Options{}), open(t, dir, Options{})
	p, err := s.Begin(Origin{CallID: "one", Agent: "claude", Turn: 3}, edit("before\n", "after\n"))
	machine.Must(t, err)
	if e := list(t, other); len(e) != 1 || e[0].State != StatePending || e[0].CallID != "one" || e[0].Turn != 3 {
		t.Fatalf("the other program sees %+v", e)
	}
	machine.Must(t, p.Done(nil))
	q, err := other.Begin(Origin{CallID: "two"}, edit("after\n", "other\n"))
	machine.Must(t, err)
	machine.Must(t, q.Undone("the disk is full"))
	e := list(t, s)
	if len(e) != 2 || e[0].CallID != "two" || e[0].State != StateUndone || e[0].Why != "the disk is full" || e[1].State != StateDone {
		t.Fatalf("listed %+v", e)
	}
	if b, a := text(t, s, e[1], e[1].Records[0].Before), text(t, s, e[1], e[1].Records[0].After); b != "before\n" || a != "after\n" {
		t.Errorf("kept %q and %q", b, a)
	}
}

func TestWhatIsThereNowReplacesWhatWasToBe(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{})
	p, err := s.Begin(Origin{}, edit("a\n", "b\n"))
	machine.Must(t, err)
	machine.Must(t, p.Done(edit("a\n", "b, formatted\n")))
	if e := list(t, s)[0]; text(t, s, e, e.Records[0].After) != "b, formatted\n" || text(t, s, e, e.Records[0].Before) != "a\n" {
		t.Errorf("kept %+v", e)
	}
}

func TestLargeFilesAreReadFromWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	data := noise(1, 9<<20+77)
	machine.Must(t, os.WriteFile(filepath.Join(dir, "large"), []byte(data), 0o600))
	s := open(t, filepath.Join(dir, "journal"), Options{})
	before := &State{Type: TypeDirectory, Children: []Child{
		{Name: "large", State: State{Type: TypeFile, Path: filepath.Join(dir, "large")}},
		{Name: "empty", State: State{Type: TypeFile}},
		{Name: "link", State: State{Type: TypeSymlink, Link: "large"}},
	}}
	made(t, s, Origin{}, []Record{{Operation: "delete", Path: dir, Before: before}})
	e := list(t, s)[0]
	kept := e.Records[0].Before.Children
	if got := text(t, s, e, &kept[0].State); got != data || kept[0].Hash != before.Children[0].Hash || kept[0].Hash == "" {
		t.Errorf("the large file came back with %d bytes", len(got))
	}
	if got := text(t, s, e, &kept[1].State); got != "" || kept[2].Link != "large" {
		t.Errorf("kept %q, %+v", got, kept[2])
	}
}

func TestNobodyElseCanReadIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "journal")
	s := open(t, dir, Options{})
	made(t, s, Origin{}, edit("secret", "more"))
	machine.Must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if want := os.FileMode(0o600); err == nil && !info.IsDir() && info.Mode().Perm() != want || info.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

func TestATornEndHidesNothingBefore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s := open(t, dir, Options{})
	for _, id := range []string{"one", "two"} {
		made(t, s, Origin{CallID: id}, edit(id, id+" after"))
	}
	name, _ := framesOf(t, s)
	whole, err := os.ReadFile(name)
	machine.Must(t, err)
	for cut := len(whole); cut >= 0; cut -= machine.Cases(5, 1) {
		machine.Must(t, os.WriteFile(name, whole[:cut], 0o600))
		for _, e := range list(t, s) {
			if text(t, s, e, e.Records[0].Before) != e.CallID {
				t.Fatalf("cut at %d: %+v does not hold what it held", cut, e)
			}
		}
	}
}

func TestAFailedWriteLeavesRoomForTheNext(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{})
	full := errors.New("no space left on device")
	for _, faults := range []Faults{{Write: func() error { return full }}, {Sync: func() error { return full }}} {
		s.Break(faults)
		if _, err := s.Begin(Origin{CallID: "failed"}, edit("a", "b")); !errors.Is(err, full) {
			t.Fatalf("Begin gave %v", err)
		}
		s.Break(Faults{})
		made(t, s, Origin{CallID: "next"}, edit("c", "d"))
		if e := list(t, s)[0]; e.CallID != "next" || e.State != StateDone || text(t, s, e, e.Records[0].After) != "d" {
			t.Errorf("after the failure: %+v", e)
		}
	}
	for _, e := range list(t, s) {
		if e.CallID == "failed" && e.State == StatePending {
			t.Error("what failed waits for ever")
		}
	}
}

func TestItStaysBelowItsSize(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	const most = 1 << 20
	s := open(t, dir, Options{MaxBytes: most, NoSync: true})
	for n := range uint64(200) {
		made(t, s, Origin{}, edit(noise(n, 20<<10), "b"))
		s.prune()
		if size := s.Size(); size > most+most/4 {
			t.Fatalf("it has %d bytes", size)
		}
	}
	if n := len(list(t, s)); n < 20 {
		t.Errorf("only %d entries are left", n)
	}
	if _, err := s.Begin(Origin{}, edit(strings.Repeat("x", most+1), "")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("what never fits gave %v", err)
	}
}

func TestOldSegmentsGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s := open(t, dir, Options{})
	made(t, s, Origin{}, edit("a", "b"))
	segment, _ := framesOf(t, s)
	age(t, segment)
	other := open(t, dir, Options{})
	if other.prune(); len(list(t, other)) != 1 {
		t.Fatal("what a living program writes to was removed")
	}
	machine.Must(t, s.Close())
	if other.prune(); len(list(t, other)) != 0 {
		t.Error("an old segment stayed")
	}
}

func TestOnlyThoseWhoAreGoneWereInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	dead, alive, third := open(t, dir, Options{}), open(t, dir, Options{}), open(t, dir, Options{})
	for _, s := range []*Store{dead, alive} {
		_, err := s.Begin(Origin{CallID: s.writer}, edit("a", "b"))
		machine.Must(t, err)
	}
	if found, err := third.Interrupted(); err != nil || len(found) != 0 {
		t.Fatalf("of two that live: %v, %v", found, err)
	}
	machine.Must(t, dead.Close())
	found, err := third.Interrupted()
	if machine.Must(t, err); len(found) != 1 || found[0].CallID != dead.writer {
		t.Fatalf("found %+v", found)
	}
	machine.Must(t, third.Mark(found[0].ID, StateUndone, "it was put back", nil, nil))
	if found, err := third.Interrupted(); err != nil || len(found) != 0 {
		t.Fatalf("what was settled is found again: %v, %v", found, err)
	}
	machine.Must(t, third.Tidy())
	if names, _ := filepath.Glob(filepath.Join(dir, dead.writer+"*"+lifeSuffix)); len(names) != 0 {
		t.Error("the sign of the dead stays")
	}
}

func TestChunksAreKeptOnceASegment(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{NoSync: true})
	data := noise(1, 100<<10)
	for range 10 {
		made(t, s, Origin{}, edit(data, data[1:]))
	}
	if size := s.Size(); size > 220<<10 {
		t.Errorf("ten times the same took %d bytes", size)
	}
	e := list(t, s)[9]
	if text(t, s, e, e.Records[0].After) != data[1:] {
		t.Error("it did not come back")
	}
}

// TestAClockThatIsSetBack: entries keep their order, and their session.
func TestAClockThatIsSetBack(t *testing.T) {
	opened := time.Now()
	s := open(t, t.TempDir(), Options{})
	last := opened
	for _, step := range []time.Duration{0, time.Hour, -time.Hour, -30 * 24 * time.Hour, time.Minute, 2 * time.Hour} {
		clock := opened.Add(step).Round(0)
		got := s.stamp(clock)
		if !got.After(last) || got.Before(clock) || got.Location() != time.UTC {
			t.Errorf("after %v comes %v, when the clock says %v", last, got, clock)
		}
		last = got
	}
}

// TestAFolderThatWasRemovedIsMadeAnew, with the sign of life, by which others know what
// was interrupted.
func TestAFolderThatWasRemovedIsMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s := open(t, dir, Options{})
	for range 2 {
		made(t, s, Origin{CallID: "c"}, edit("a", "b"))
		if alive, err := lives(dir); err != nil || len(alive) != 1 || !alive[s.writer] {
			t.Errorf("signs of life: %v, %v", alive, err)
		}
		if n := len(list(t, s)); n != 1 {
			t.Errorf("%d entries", n)
		}
		machine.Must(t, os.RemoveAll(dir))
	}
}

// TestListsCostWhatIsNew: a list after each of many changes reads no segment again.
func TestListsCostWhatIsNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s, other := open(t, dir, Options{NoSync: true}), open(t, dir, Options{})
	for n := range 50 {
		p, err := s.Begin(Origin{Turn: n}, edit("a", "b"))
		machine.Must(t, err)
		if e := list(t, other); len(e) != n+1 || e[0].Turn != n || e[0].State != StatePending {
			t.Fatalf("after %d there are %d, the last %+v", n, len(e), e[0])
		}
		machine.Must(t, p.Done(nil))
		machine.Must(t, other.Mark(p.ID, StateReverted, "", []string{"/w/a.txt"}, nil))
		if e := list(t, other)[0]; e.State != StateReverted || !e.Reverted["/w/a.txt"] {
			t.Fatalf("after its end: %+v", e)
		}
	}
	names, err := other.segments()
	machine.Must(t, err)
	// Who begins one in the same millisecond may come first.
	first := slices.IndexFunc(names, func(name string) bool { return writerOf(name) == s.writer })
	info, err := os.Stat(filepath.Join(dir, names[first]))
	machine.Must(t, err)
	if at := other.known[names[first]]; at.upTo != info.Size() || len(at.begun) != 50 {
		t.Errorf("it knows %d bytes of %d, and %d entries", at.upTo, info.Size(), len(at.begun))
	}
}

// TestAnEndThatCouldNotBeWritten: the change is made, and can be put back.
func TestAnEndThatCouldNotBeWritten(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{})
	p, err := s.Begin(Origin{CallID: "c"}, edit("a", "b"))
	machine.Must(t, err)
	if e := list(t, s); len(e) != 1 || !s.Live(e[0]) {
		t.Errorf("while it is made: %+v", e)
	}
	s.Break(Faults{Write: func() error { return errors.New("the disk is full") }})
	if p.Done(nil) == nil {
		t.Error("nothing failed")
	}
	s.Break(Faults{})
	if e := list(t, s); len(e) != 1 || e[0].State != StatePending || s.Live(e[0]) {
		t.Errorf("when it is over: %+v", e)
	}
	machine.Must(t, s.Close())
	if e, err := open(t, s.Dir(), Options{}).Interrupted(); err != nil || len(e) != 1 || e[0].CallID != "c" {
		t.Errorf("the next start looks into %+v, %v", e, err)
	}
}
