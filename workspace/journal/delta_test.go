package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
)

// versions are the texts of a file of some KB that is edited in one line each time.
func versions(n int) []string {
	var out []string
	for v := range n {
		out = append(out, strings.Repeat("a line above\n", 300)+fmt.Sprintf("version %d\n", v)+strings.Repeat("a line below\n", 300))
	}
	return out
}

// noise is content that zstd makes nothing smaller of.
func noise(seed uint64, length int) string {
	data := make([]byte, length)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return string(data)
}

// kept makes a journal of so many edits of one file, each its own change set.
func kept(t *testing.T, texts []string) *Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "journal"), Options{NoSync: true})
	for n := range len(texts) - 1 {
		made(t, s, Origin{Turn: n}, edit(texts[n], texts[n+1]))
	}
	return s
}

// framesOf are the frames of a store's first segment, and where it is.
func framesOf(t *testing.T, s *Store) (at string, all []frame) {
	t.Helper()
	names, err := s.segments()
	machine.Must(t, err)
	at = filepath.Join(s.dir, names[0])
	f, err := os.Open(at)
	machine.Must(t, err)
	defer f.Close()
	info, err := f.Stat()
	machine.Must(t, err)
	_, err = scan(f, 0, info.Size(), func(fr frame) { all = append(all, fr) })
	machine.Must(t, err)
	return at, all
}

// TestEditsAreKeptAsDeltas, on one another up to a bound, and all of them come back.
func TestEditsAreKeptAsDeltas(t *testing.T) {
	texts := []string{noise(1, 50<<10)}
	for n := range 40 { // here and there
		last := texts[n]
		at := (n * 7919) % len(last)
		texts = append(texts, last[:at]+fmt.Sprintf("edit %d", n)+last[min(at+n, len(last)):])
	}
	s := kept(t, texts)
	_, frames := framesOf(t, s)
	whole, deltas, run := 0, 0, 0
	for _, f := range frames {
		switch f.kind {
		case kindChunk:
			whole, run = whole+1, 0
		case kindDelta:
			deltas, run = deltas+1, run+1
		}
		if run > deltaDeeper {
			t.Errorf("%d deltas rest on one another", run)
		}
	}
	if whole != 3 || deltas != 38 {
		t.Errorf("41 versions are kept as %d chunks and %d deltas", whole, deltas)
	}
	if size := s.Size(); size > 250<<10 {
		t.Errorf("40 edits of 50 KB take %d bytes", size)
	}
	for _, e := range list(t, open(t, s.dir, Options{})) {
		if text(t, s, e, e.Records[0].Before) != texts[e.Turn] || text(t, s, e, e.Records[0].After) != texts[e.Turn+1] {
			t.Errorf("edit %d did not come back", e.Turn)
		}
	}
}

// TestWhatIsKeptWhole: what is short, or new for the most part, or of which the segment
// has something else than was said.
func TestWhatIsKeptWhole(t *testing.T) {
	long := noise(1, 10<<10)
	other := "not " + long
	for name, records := range map[string][]Record{
		"short":    edit("a text\n", "the text\n"),
		"new":      edit(long, long[:4<<10]+noise(3, 10<<10)),
		"mistaken": edit(other, other+"!"),
		"made":     {{Operation: "create", Path: "/w/a", After: file(long)}},
		"large":    edit(strings.Repeat(long, 110), strings.Repeat(long, 110)+"!"),
	} {
		t.Run(name, func(t *testing.T) {
			s := kept(t, []string{long, long + "before"})
			if before := records[0].Before; name == "mistaken" { // it is said to be the long one
				before.Version = list(t, s)[0].Records[0].Before.Hash[:32]
			}
			after := string(records[0].After.Data)
			made(t, s, Origin{CallID: name}, records)
			_, frames := framesOf(t, s)
			if n := len(slices.DeleteFunc(frames, func(f frame) bool { return f.kind != kindDelta })); n != 1 {
				t.Errorf("there are %d deltas, and one was there before", n)
			}
			if e := list(t, s)[0]; text(t, s, e, e.Records[0].After) != after {
				t.Error("it did not come back")
			}
		})
	}
}

// TestSegmentsFromBeforeThereWereDeltas are read as they were. The segment was written by
// the last program that knew none.
func TestSegmentsFromBeforeThereWereDeltas(t *testing.T) {
	data, err := os.ReadFile("testdata/before-deltas.seg")
	machine.Must(t, err)
	dir := t.TempDir()
	machine.Must(t, os.WriteFile(filepath.Join(dir, "0000000000001-older-0001"+segmentSuffix), data, 0o600))
	s := open(t, dir, Options{})
	entries, texts := list(t, s), versions(5)
	if len(entries) != 4 {
		t.Fatalf("it has %d entries", len(entries))
	}
	slices.Reverse(entries)
	for n, e := range entries {
		if e.State != StateDone || text(t, s, e, e.Records[0].Before) != texts[n] || text(t, s, e, e.Records[0].After) != texts[n+1] {
			t.Errorf("of edit %d came back %+v", n, e)
		}
	}
}

// TestDamageIsFound: whichever byte of a segment is another one, each content comes back
// as it was or not at all; and no more than what rests on the damaged one is gone.
func TestDamageIsFound(t *testing.T) {
	texts := []string{noise(1, 6<<10)}
	for n := range 24 {
		texts = append(texts, texts[n][:2000]+fmt.Sprintf("edit %d, and then\n", n)+texts[n][2010:])
	}
	s := kept(t, texts)
	at, frames := framesOf(t, s)
	entries := list(t, s)
	whole, err := os.ReadFile(at)
	machine.Must(t, err)
	lost := func() (n int) {
		for _, e := range entries {
			c, err := s.Content(e)
			machine.Must(t, err)
			got, err := c.Read(e.Records[0].After)
			if c.Close(); err != nil {
				n++
			} else if string(got) != texts[e.Turn+1] {
				t.Fatalf("edit %d came back as something else", e.Turn)
			}
		}
		return n
	}
	if n := lost(); n != 0 {
		t.Fatalf("%d are lost before anything is damaged", n)
	}
	damage := func(place int, bits byte) int {
		damaged := slices.Clone(whole)
		damaged[place] ^= bits
		machine.Must(t, os.WriteFile(at, damaged, 0o600))
		return lost()
	}
	for _, f := range frames {
		if f.isChunk() {
			if n := damage(int(f.at)+f.length-1, 0x10); n < 1 || n > deltaDeeper+1 {
				t.Errorf("a damaged %c at %d takes %d contents along", f.kind, f.at, n)
			}
		}
	}
	machine.Rapid(t, 30, 300)
	rapid.Check(t, func(rt *rapid.T) {
		damage(rapid.IntRange(0, len(whole)-1).Draw(rt, "place"), rapid.ByteRange(1, 255).Draw(rt, "bits"))
	})
}

// TestABaseThatIsNotThere: what rests on a chunk that is missing, damaged, or itself
// resting on it is reported, and nothing is made up.
func TestABaseThatIsNotThere(t *testing.T) {
	texts := versions(4)
	s := kept(t, texts)
	at, frames := framesOf(t, s)
	whole, err := os.ReadFile(at)
	machine.Must(t, err)
	e := list(t, s)[0]
	cut := func(f frame) []byte { return whole[f.at-frameHead : f.at+int64(f.length)] }
	wants := func(why error, data ...[]byte) {
		t.Helper()
		machine.Must(t, os.WriteFile(at, slices.Concat(data...), 0o600))
		c, err := s.Content(e)
		machine.Must(t, err)
		defer c.Close()
		want := ""
		if why == nil {
			want = texts[3]
		}
		if data, err := c.Read(e.Records[0].After); !errors.Is(err, why) || string(data) != want {
			t.Errorf("%d bytes, and %v", len(data), err)
		}
	}
	var chunks []frame
	for _, f := range frames {
		if f.isChunk() {
			chunks = append(chunks, f)
		}
	}
	first, second, third, fourth := cut(chunks[0]), cut(chunks[1]), cut(chunks[2]), cut(chunks[3])
	wants(ErrGone, []byte(magic), second, third, fourth)
	wants(ErrGone, []byte(magic), first, third, fourth)
	wants(errDamaged, []byte(magic), first, third, second, fourth)
	wants(nil, []byte(magic), first, second, third, fourth, second) // two wrote it at a time
	own := slices.Clone(fourth[frameHead:])
	copy(own[chunkHead:], own[:32])
	wants(errDamaged, []byte(magic), first, second, third, appendFrame(nil, kindDelta, own))
	wrong := slices.Clone(fourth[frameHead:])
	wrong[chunkHead+32]++ // its beginning is longer
	wants(errDamaged, []byte(magic), first, second, third, appendFrame(nil, kindDelta, wrong))
	wrong[chunkHead+35] = 0xff
	wants(errDamaged, []byte(magic), first, second, third, appendFrame(nil, kindDelta, wrong))
	wants(errDamaged, []byte(magic), first, second, third, appendFrame(nil, kindDelta, fourth[frameHead:][:chunkHead+5]))
}

// history is a journal, and what it was given.
type history struct {
	t      *testing.T
	dir    string
	stores []*Store // of two programs
	texts  []string // of the files
	given  map[string][2]string
}

// TestEachContentComesBack: whatever is edited, by whom, in what order and size, and
// whatever is pruned and opened again.
func TestEachContentComesBack(t *testing.T) {
	machine.Rapid(t, 40, 200)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		machine.Must(t, err)
		h := &history{t: t, dir: dir, stores: make([]*Store, 2), texts: make([]string, 3), given: map[string][2]string{}}
		defer h.close()
		for n := range h.texts {
			h.texts[n] = noise(uint64(n), rapid.IntRange(0, 30<<10).Draw(rt, "length"))
		}
		for range rapid.IntRange(1, 60).Draw(rt, "acts") {
			h.act(rt)
		}
		h.check()
	})
}

func (h *history) close() {
	for n, s := range h.stores {
		if s != nil {
			machine.Must(h.t, s.Close())
			h.stores[n] = nil
		}
	}
}

func (h *history) act(rt *rapid.T) {
	who := rapid.IntRange(0, 1).Draw(rt, "who")
	if h.stores[who] == nil {
		s, err := Open(h.dir, Options{NoSync: true, MaxBytes: 1 << 20})
		machine.Must(h.t, err)
		h.stores[who] = s
	}
	s := h.stores[who]
	switch kind := rapid.SampledFrom([]string{"edit", "edit", "edit", "edit", "replace", "format", "reopen", "prune"}).Draw(rt, "kind"); kind {
	case "reopen":
		machine.Must(h.t, s.Close())
		h.stores[who] = nil
	case "prune":
		s.prune()
		h.check()
	default:
		h.edit(rt, s, kind)
	}
}

func (h *history) edit(rt *rapid.T, s *Store, kind string) {
	n := rapid.IntRange(0, len(h.texts)-1).Draw(rt, "file")
	before := h.texts[n]
	after := spliced(rt, before)
	if kind == "replace" {
		after = noise(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 30<<10).Draw(rt, "length"))
	}
	p, err := s.Begin(Origin{}, edit(before, after))
	machine.Must(h.t, err)
	var now []Record
	if kind == "format" { // the editor made something else of it
		after = spliced(rt, after)
		now = edit(before, after)
	}
	machine.Must(h.t, p.Done(now))
	h.texts[n], h.given[p.ID] = after, [2]string{before, after}
}

// spliced puts something else in the place of some of a text.
func spliced(rt *rapid.T, text string) string {
	at := rapid.IntRange(0, len(text)).Draw(rt, "at")
	to := min(len(text), at+rapid.IntRange(0, 3000).Draw(rt, "removed"))
	return text[:at] + noise(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 3000).Draw(rt, "added")) + text[to:]
}

// check reads all that is there.
func (h *history) check() {
	reader, err := Open(h.dir, Options{})
	machine.Must(h.t, err)
	defer reader.Close() //nolint:errcheck // it has written nothing
	for _, e := range list(h.t, reader) {
		want, ok := h.given[e.ID]
		if !ok || e.State != StateDone {
			h.t.Fatalf("it has %+v", e)
		}
		if r := e.Records[0]; text(h.t, reader, e, r.Before) != want[0] || text(h.t, reader, e, r.After) != want[1] {
			h.t.Fatalf("of %d and %d bytes something else came back", len(want[0]), len(want[1]))
		}
	}
}

// TestCopiesOfDeltas are readable: of what was there before an edit, also when that is
// itself kept as a delta.
func TestCopiesOfDeltas(t *testing.T) {
	texts := versions(4)
	s := kept(t, texts)
	p, err := s.Begin(Origin{}, edit(texts[3], "other"))
	machine.Must(t, err)
	before := *edit(texts[3], "")[0].Before
	for _, st := range []*State{&before, list(t, s)[0].Records[0].Before} {
		at, err := p.Backup("a.txt", st)
		machine.Must(t, err)
		if data, err := os.ReadFile(at); err != nil || string(data) != texts[3] {
			t.Errorf("the copy has %d bytes, %v", len(data), err)
		}
	}
	machine.Must(t, p.Done(nil))
	dir := filepath.Join(s.dir, backups)
	there := func() int {
		all, err := os.ReadDir(dir)
		machine.Must(t, err)
		return len(all)
	}
	s.prune()
	if n := there(); n != 1 {
		t.Errorf("%d folders of copies are left of one", n)
	}
	all, err := os.ReadDir(dir)
	machine.Must(t, err)
	age(t, filepath.Join(dir, all[0].Name()))
	s.prune()
	if n := there(); n != 0 {
		t.Errorf("%d folders of old copies are left", n)
	}
}

// TestOldDeltasGoWithWhatTheyRestOn: what is pruned is whole segments.
func TestOldDeltasGoWithWhatTheyRestOn(t *testing.T) {
	texts := versions(6)
	s := kept(t, texts[:4])
	at, _ := framesOf(t, s)
	machine.Must(t, s.Close())
	other := open(t, s.dir, Options{})
	for n := 3; n < 5; n++ {
		made(t, other, Origin{Turn: n}, edit(texts[n], texts[n+1]))
	}
	age(t, at)
	other.prune()
	entries := list(t, other)
	if len(entries) != 2 {
		t.Fatalf("%d entries are left", len(entries))
	}
	for _, e := range entries {
		if text(t, other, e, e.Records[0].Before) != texts[e.Turn] || text(t, other, e, e.Records[0].After) != texts[e.Turn+1] {
			t.Errorf("edit %d did not come back", e.Turn)
		}
	}
}
