package journal

import (
	"bytes"
	"errors"
	"math/rand/v2"
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
	must(t, err)
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // a test may have closed it
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(text string) *State { return &State{Type: TypeFile, Data: []byte(text), Mode: 0o644} }

func edit(before, after string) []Record {
	return []Record{{Operation: "overwrite", Name: "a.txt", Path: "/w/a.txt", Before: file(before), After: file(after)}}
}

func list(t *testing.T, s *Store) []Entry {
	t.Helper()
	entries, err := s.Entries(Query{})
	must(t, err)
	return entries
}

func text(t *testing.T, s *Store, e Entry, st *State) string {
	t.Helper()
	c, err := s.Content(e)
	must(t, err)
	defer c.Close()
	data, err := c.Read(st)
	must(t, err)
	return string(data)
}

func TestWhatWasBegunIsThereForEverybody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s, other := open(t, dir, Options{}), open(t, dir, Options{})
	p, err := s.Begin(Origin{CallID: "one", Agent: "claude", Turn: 3}, edit("before\n", "after\n"))
	must(t, err)
	if e := list(t, other); len(e) != 1 || e[0].State != StatePending || e[0].CallID != "one" || e[0].Turn != 3 {
		t.Fatalf("the other program sees %+v", e)
	}
	must(t, p.Done(nil))
	q, err := other.Begin(Origin{CallID: "two"}, edit("after\n", "other\n"))
	must(t, err)
	must(t, q.Undone("the disk is full"))
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
	must(t, err)
	must(t, p.Done(edit("a\n", "b, formatted\n")))
	if e := list(t, s)[0]; text(t, s, e, e.Records[0].After) != "b, formatted\n" || text(t, s, e, e.Records[0].Before) != "a\n" {
		t.Errorf("kept %+v", e)
	}
}

func TestLargeFilesAreReadFromWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	data := make([]byte, 9<<20+77)
	random := rand.NewChaCha8([32]byte{})
	random.Read(data) //nolint:errcheck // it never fails
	must(t, os.WriteFile(filepath.Join(dir, "large"), data, 0o600))
	s := open(t, filepath.Join(dir, "journal"), Options{})
	before := &State{Type: TypeDirectory, Children: []Child{
		{Name: "large", State: State{Type: TypeFile, Path: filepath.Join(dir, "large")}},
		{Name: "empty", State: State{Type: TypeFile}},
		{Name: "link", State: State{Type: TypeSymlink, Link: "large"}},
	}}
	p, err := s.Begin(Origin{}, []Record{{Operation: "delete", Path: dir, Before: before}})
	must(t, err)
	must(t, p.Done(nil))
	e := list(t, s)[0]
	kept := e.Records[0].Before.Children
	if got := text(t, s, e, &kept[0].State); got != string(data) || kept[0].Hash != before.Children[0].Hash || kept[0].Hash == "" {
		t.Errorf("the large file came back with %d bytes", len(got))
	}
	if got := text(t, s, e, &kept[1].State); got != "" || kept[2].Link != "large" {
		t.Errorf("kept %q, %+v", got, kept[2])
	}
}

func TestNobodyElseCanReadIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "journal")
	s := open(t, dir, Options{})
	p, err := s.Begin(Origin{}, edit("secret", "more"))
	must(t, err)
	must(t, p.Done(nil))
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
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
		p, err := s.Begin(Origin{CallID: id}, edit(id, id+" after"))
		must(t, err)
		must(t, p.Done(nil))
	}
	names, err := s.segments()
	must(t, err)
	name := filepath.Join(dir, names[0])
	whole, err := os.ReadFile(name)
	must(t, err)
	for cut := len(whole); cut >= 0; cut -= machine.Cases(5, 1) {
		must(t, os.WriteFile(name, whole[:cut], 0o600))
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
		p, err := s.Begin(Origin{CallID: "next"}, edit("c", "d"))
		must(t, err)
		must(t, p.Done(nil))
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
	random := rand.NewChaCha8([32]byte{})
	for range 200 {
		data := make([]byte, 20<<10)
		random.Read(data) //nolint:errcheck // it never fails
		p, err := s.Begin(Origin{}, edit(string(data), "b"))
		must(t, err)
		must(t, p.Done(nil))
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
	p, err := s.Begin(Origin{}, edit("a", "b"))
	must(t, err)
	must(t, p.Done(nil))
	names, err := s.segments()
	must(t, err)
	old := time.Now().Add(-31 * 24 * time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, names[0]), old, old))
	other := open(t, dir, Options{})
	if other.prune(); len(list(t, other)) != 1 {
		t.Fatal("what a living program writes to was removed")
	}
	must(t, s.Close())
	if other.prune(); len(list(t, other)) != 0 {
		t.Error("an old segment stayed")
	}
}

func TestOnlyThoseWhoAreGoneWereInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	dead, alive, third := open(t, dir, Options{}), open(t, dir, Options{}), open(t, dir, Options{})
	for _, s := range []*Store{dead, alive} {
		_, err := s.Begin(Origin{CallID: s.writer}, edit("a", "b"))
		must(t, err)
	}
	if found, err := third.Interrupted(); err != nil || len(found) != 0 {
		t.Fatalf("of two that live: %v, %v", found, err)
	}
	must(t, dead.Close())
	found, err := third.Interrupted()
	if must(t, err); len(found) != 1 || found[0].CallID != dead.writer {
		t.Fatalf("found %+v", found)
	}
	must(t, third.Mark(found[0].ID, StateUndone, "it was put back", nil, nil))
	if found, err := third.Interrupted(); err != nil || len(found) != 0 {
		t.Fatalf("what was settled is found again: %v, %v", found, err)
	}
	must(t, third.Tidy())
	if names, _ := filepath.Glob(filepath.Join(dir, dead.writer+"*"+lifeSuffix)); len(names) != 0 {
		t.Error("the sign of the dead stays")
	}
}

func TestChunksAreKeptOnceASegment(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{NoSync: true})
	data := make([]byte, 100<<10)
	rand.NewChaCha8([32]byte{}).Read(data) //nolint:errcheck // it never fails
	for range 10 {
		p, err := s.Begin(Origin{}, edit(string(data), string(data[1:])))
		must(t, err)
		must(t, p.Done(nil))
	}
	if size := s.Size(); size > 220<<10 {
		t.Errorf("ten times the same took %d bytes", size)
	}
	e := list(t, s)[9]
	if got := text(t, s, e, e.Records[0].After); !bytes.Equal([]byte(got), data[1:]) {
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
		p, err := s.Begin(Origin{CallID: "c"}, edit("a", "b"))
		must(t, err)
		must(t, p.Done(nil))
		if alive, err := lives(dir); err != nil || len(alive) != 1 || !alive[s.writer] {
			t.Errorf("signs of life: %v, %v", alive, err)
		}
		if n := len(list(t, s)); n != 1 {
			t.Errorf("%d entries", n)
		}
		must(t, os.RemoveAll(dir))
	}
}

// TestListsCostWhatIsNew: a list after each of many changes reads no segment again.
func TestListsCostWhatIsNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s, other := open(t, dir, Options{NoSync: true}), open(t, dir, Options{})
	for n := range 50 {
		p, err := s.Begin(Origin{Turn: n}, edit("a", "b"))
		must(t, err)
		if e := list(t, other); len(e) != n+1 || e[0].Turn != n || e[0].State != StatePending {
			t.Fatalf("after %d there are %d, the last %+v", n, len(e), e[0])
		}
		must(t, p.Done(nil))
		must(t, other.Mark(p.ID, StateReverted, "", []string{"/w/a.txt"}, nil))
		if e := list(t, other)[0]; e.State != StateReverted || !e.Reverted["/w/a.txt"] {
			t.Fatalf("after its end: %+v", e)
		}
	}
	names, err := other.segments()
	must(t, err)
	// Who begins one in the same millisecond may come first.
	first := slices.IndexFunc(names, func(name string) bool { return writerOf(name) == s.writer })
	info, err := os.Stat(filepath.Join(dir, names[first]))
	must(t, err)
	if at := other.known[names[first]]; at.upTo != info.Size() || len(at.begun) != 50 {
		t.Errorf("it knows %d bytes of %d, and %d entries", at.upTo, info.Size(), len(at.begun))
	}
}

// TestAnEndThatCouldNotBeWritten: the change is made, and can be put back.
func TestAnEndThatCouldNotBeWritten(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{})
	p, err := s.Begin(Origin{CallID: "c"}, edit("a", "b"))
	must(t, err)
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
	must(t, s.Close())
	if e, err := open(t, s.Dir(), Options{}).Interrupted(); err != nil || len(e) != 1 || e[0].CallID != "c" {
		t.Errorf("the next start looks into %+v, %v", e, err)
	}
}
