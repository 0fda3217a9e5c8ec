package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"
	"unsafe"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/search"
)

// bytesOnDisk is a Source that gives files as they are, and counts those that it was
// asked for.
type bytesOnDisk struct {
	open map[workspace.Path]string // texts of the files that an editor has open
	read atomic.Int64              // of how many files: the index may read one again behind the search
	seen sync.Map
}

func (s *bytesOnDisk) ReadText(p workspace.Path) (string, error) {
	if text, ok := s.open[p]; ok {
		return text, nil
	}
	data, _, err := p.ReadFile(s.Limit())
	if err != nil {
		return "", err
	}
	return s.Text(p, data)
}

func (s *bytesOnDisk) IsApart(p workspace.Path) bool {
	_, isOpen := s.open[p]
	return isOpen
}

func (s *bytesOnDisk) Open() (files []workspace.Path, all bool) {
	return slices.Collect(maps.Keys(s.open)), false
}

func (*bytesOnDisk) Limit() int64 { return 1 << 20 }

func (s *bytesOnDisk) Text(p workspace.Path, data []byte) (string, error) {
	if _, again := s.seen.LoadOrStore(p, true); !again {
		s.read.Add(1)
	}
	switch {
	case strings.Contains(string(data), "\x00"):
		return "", fault.New(fault.BinaryFile, "%s is binary", p)
	case strings.HasPrefix(string(data), "\xef\xbb\xbf"):
		return string(data[3:]), nil
	case !utf8.Valid(data):
		return "", fault.New(fault.EncodingError, "%s is not UTF-8", p)
	}
	return unsafe.String(unsafe.SliceData(data), len(data)), nil
}

// found is what a search gives, with the list of files and the index or without.
func (f *forest) found(files *search.Files, source search.Source, q search.Query) string {
	f.Helper()
	q.Files, q.IndexBytes = files, search.IndexBytes
	r, err := search.Run(context.Background(), []workspace.Path{f.root}, q, source)
	f.Must(err)
	out, err := json.Marshal(r)
	f.Must(err)
	return string(out)
}

// same holds what is found with the index to what is found without.
func (f *forest) same(after string, q search.Query) {
	f.Helper()
	got, want := f.found(f.Files, &bytesOnDisk{}, q), f.found(nil, &bytesOnDisk{}, q)
	if got != want {
		f.Fatalf("after %s, %+v finds\n%s\nand not\n%s", after, q, got, want)
	}
}

// index brings the index up to date.
func (f *forest) index() {
	f.Helper()
	f.IndexNow(&bytesOnDisk{}, f.root)
}

// words are what is written and looked for: some in one another, some alike but for their
// letters' case, some with letters that fold to ASCII.
var words = []string{"function", "functional", "FUNCTION", "malfunction", "kelvin", "\u212aelvin", "Mississippi", "mi\u017f\u017fissippi", "grüßen", "GRÜSSEN", "日本語の文", "abcd", "abc", "x", "  return 0", "return", "a.b.c.d", "\t\tif err"}

func text(random *rand.Rand) string {
	var out strings.Builder
	for range random.IntN(12) {
		for range 1 + random.IntN(4) {
			out.WriteString(words[random.IntN(len(words))])
			out.WriteString([]string{" ", "", ", ", "_"}[random.IntN(4)])
		}
		out.WriteString([]string{"\n", "\r\n", "\n\n"}[random.IntN(3)])
	}
	switch random.IntN(12) {
	case 0:
		return "\xef\xbb\xbf" + out.String()
	case 1:
		return out.String() + "\x00"
	case 2:
		return out.String() + "\xff"
	case 3:
		if random.IntN(4) == 0 {
			return strings.Repeat("filler "+out.String(), 1+random.IntN(1000)) // several blocks
		}
	case 4:
		if random.IntN(4) == 0 {
			return strings.Repeat("filler ", 20_000) + out.String() // with a long line
		}
	}
	return out.String()
}

func query(random *rand.Rand) search.Query {
	word := func() string { return words[random.IntN(len(words))] }
	q := search.Query{CaseSensitive: random.IntN(2) == 0, Text: word(), MaxMatches: 1 + random.IntN(500), Context: random.IntN(3) - 1}
	switch random.IntN(8) {
	case 0:
		q.Text = word() + " " + word()
	case 1:
		q.Text = strings.ToUpper(word())
	case 2:
		q.Text, q.Regex = word()+"|"+word()+"|"+word(), true
	case 3:
		q.Text, q.Regex = `\b`+word()+`.*(`+word()+"|"+word()+")", true
	case 4:
		q.Text, q.Regex = word()+`\s*$`, true
	case 5:
		q.Text = "no such thing"
	}
	if random.IntN(5) == 0 {
		q.Glob = "**/{x,y}"
	}
	return q
}

// Somebody changes the folder at random, and a search right after each step finds what is
// there then, whatever the index was told and has been brought up to date with.
func TestAnIndexIsNeverStale(t *testing.T) {
	f := newForest(t)
	f.tree.Start()
	random := rand.New(rand.NewPCG(5, 6))
	ever := false
	for step := range machine.Cases(500, 2000) {
		what := f.disturb(random)
		f.same(fmt.Sprintf("step %d, %s", step, what), query(random))
		switch random.IntN(6) {
		case 0:
			f.index()
			files, _ := f.IndexSize()
			ever = ever || files > 0
		case 1:
			f.StartIndexing(&bytesOnDisk{}, f.root) // while the next step changes files
		case 2:
			f.Lost()
		}
	}
	if !ever {
		t.Error("nothing was ever indexed")
	}
}

// Nobody watches: the stamp of each file is compared.
func TestAnIndexWithoutWatchersIsNeverStale(t *testing.T) {
	search.TrustStamps(t)
	f := newForest(t)
	random := rand.New(rand.NewPCG(7, 8))
	f.index()
	for step := range machine.Cases(60, 500) {
		what := f.disturb(random)
		f.same(fmt.Sprintf("step %d, %s", step, what), query(random))
		f.tick()
		f.index()
		f.tick() // from here on every change gives another stamp
	}
}

// tick waits until the clock of the file system has moved on.
func (f *forest) tick() {
	f.Helper()
	name := filepath.Join(f.top, "tick")
	modified := func() int64 {
		f.Must(os.WriteFile(name, nil, 0o644))
		info, err := os.Stat(name)
		f.Must(err)
		return info.ModTime().UnixNano()
	}
	for began := modified(); modified() == began; {
	}
}

// disturb changes something, and says what.
func (f *forest) disturb(random *rand.Rand) string {
	pick := func(names ...string) string { return names[random.IntN(len(names))] }
	name := func() string { return strings.Repeat(pick("a/", "b/", ""), random.IntN(3)) + pick("x", "y", "a", "b") }
	at := f.Abs(name())
	switch random.IntN(9) {
	case 0:
		_ = os.RemoveAll(at)
		return "remove " + at
	case 1:
		to := f.Abs(name())
		_ = os.Rename(at, to)
		return "rename " + at + " " + to
	case 2:
		away := filepath.Join(f.top, fmt.Sprint("away", random.IntN(3)))
		if os.Rename(at, away+"-new") == nil {
			_ = os.Rename(away, at)
			_ = os.Rename(away+"-new", away)
		}
		return "swap " + at + " with one from elsewhere"
	case 3:
		return "replace " + at + f.replace(at)
	case 4:
		file, err := os.OpenFile(at, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, _ = file.WriteString(text(random))
			_ = file.Close()
		}
		return "append to " + at
	case 5:
		to := f.Abs(name())
		_ = os.Link(at, to)
		return "link " + at + " " + to
	}
	if os.MkdirAll(filepath.Dir(at), 0o755) == nil {
		_ = os.WriteFile(at, []byte(text(random)), 0o644)
	}
	return "write " + at
}

// replace puts another file in the place of one, of the same size and with the same time.
func (f *forest) replace(at string) string {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() {
		return ", which is none"
	}
	data, err := os.ReadFile(at)
	f.Must(err)
	for i, b := range data {
		if b == 'n' {
			data[i] = 'm'
		}
	}
	other := filepath.Join(f.top, "other")
	f.Must(os.WriteFile(other, data, 0o644))
	f.Must(os.Chtimes(other, info.ModTime(), info.ModTime()))
	f.Must(os.Rename(other, at))
	return " by one of the same size and time"
}

// What the index knows is not read, and what it does not know is.
func TestAnIndexSparesReading(t *testing.T) {
	f := newForest(t)
	for i := range 40 {
		f.Write(fmt.Sprintf("d%d/f%d.txt", i%5, i), fmt.Sprintf("some text with needle%d in it\n", i))
	}
	f.Write("binary", "needle\x00")
	f.Write("marked", "\xef\xbb\xbfneedle with a mark\n")
	f.tree.Start()
	f.warm()
	f.index()
	for _, test := range []struct {
		query search.Query
		read  int64
	}{
		{search.Query{Text: "needle17 in"}, 2}, // and the one that is not as it is on disk
		{search.Query{Text: "NEEDLE17 IN"}, 2},
		{search.Query{Text: "NEEDLE17 IN", CaseSensitive: true}, 2}, // the index does not tell
		{search.Query{Text: "needle with"}, 1},
		{search.Query{Text: "(needle8 |needle9 )in", Regex: true}, 3},
		{search.Query{Text: "nothing like it"}, 1},
		{search.Query{Text: "n.e", Regex: true}, 42},
		{search.Query{Text: "needle17", Glob: "*.md"}, 0},
	} {
		source := &bytesOnDisk{}
		got := f.found(f.Files, source, test.query)
		if read := source.read.Load(); read != test.read {
			t.Errorf("%+v: %d files were read, not %d: %s", test.query, read, test.read, got)
		}
		if want := f.found(nil, &bytesOnDisk{}, test.query); got != want {
			t.Errorf("%+v finds\n%s\nand not\n%s", test.query, got, want)
		}
	}
	// A text that an editor has is another than that of the index.
	open := &bytesOnDisk{open: map[workspace.Path]string{f.root.Join("d0/f0.txt"): "typed needle17 in an editor\n"}}
	got := f.found(f.Files, open, search.Query{Text: "needle17 in"})
	if read := open.read.Load(); read != 2 || !strings.Contains(got, "typed") || !strings.Contains(got, `"count":2,"files_searched":41`) {
		t.Errorf("%d files were read from disk: %s", read, got)
	}
}

func TestAnIndexThatTakesTooMuchIsLetGo(t *testing.T) {
	f := newForest(t)
	f.Write("a", strings.Repeat("some text", 1000))
	var told []search.IndexState
	f.Indexed(func(s search.IndexState) { told = append(told, s) })
	f.IndexWithin(100, &bytesOnDisk{}, f.root)
	if files, size := f.IndexSize(); files != 0 || size != 0 || len(told) != 2 || !told[0].Building || told[1] != (search.IndexState{}) {
		t.Errorf("%d files, %d bytes, told %+v", files, size, told)
	}
	f.same("nothing", search.Query{Text: "some text"})
	f.IndexWithin(100, &bytesOnDisk{}, f.root)
	if len(told) != 2 {
		t.Errorf("it was made again: told %+v", told)
	}
	f.IndexWithin(1000, &bytesOnDisk{}, f.root)
	if files, _ := f.IndexSize(); files != 1 {
		t.Error("it is not made when it may take more")
	}
}

// Who makes an index says how far it is, and when it only mends one, how large that is.
func TestWhatIsToldOfAnIndex(t *testing.T) {
	f := newForest(t)
	for i := range 100 {
		f.Write(fmt.Sprintf("d%d/f%d.txt", i, i), "some text")
	}
	var told []search.IndexState
	f.Indexed(func(s search.IndexState) { told = append(told, s) })
	f.index()
	last := -1
	for _, s := range told[:len(told)-1] {
		if !s.Building || s.Percent <= last || s.Percent >= 100 {
			t.Errorf("%+v after %d percent", s, last)
		}
		last = s.Percent
	}
	whole := told[len(told)-1]
	if len(told) < 5 || whole.Building || whole.Files != 100 || whole.Bytes == 0 {
		t.Errorf("%d times, at last %+v", len(told), whole)
	}
	told = nil
	f.Write("d0/new.txt", "other text")
	f.index()
	if len(told) != 0 {
		t.Errorf("when little is mended: %+v", told)
	}
	for i := range 20 {
		f.Write(fmt.Sprintf("d0/new%d.txt", i), "other text")
	}
	f.index()
	if len(told) != 1 || told[0].Building || told[0].Files != 121 {
		t.Errorf("when much is mended: %+v", told)
	}
}

// A folder that takes another's place has files of the same names.
func TestAnIndexOfAFolderThatWasReplaced(t *testing.T) {
	f := newForest(t)
	f.Write("a/b/c.txt", "the first text")
	f.Must(os.MkdirAll(filepath.Join(f.top, "other/b"), 0o755))
	f.Must(os.WriteFile(filepath.Join(f.top, "other/b/c.txt"), []byte("the second one"), 0o644))
	f.tree.Start()
	for round := range 20 {
		f.warm()
		f.index()
		f.Must(os.Rename(f.Abs("a"), filepath.Join(f.top, "away")))
		f.Must(os.Rename(filepath.Join(f.top, "other"), f.Abs("a")))
		f.Must(os.Rename(filepath.Join(f.top, "away"), filepath.Join(f.top, "other")))
		f.same(fmt.Sprintf("round %d", round), search.Query{Text: "first text"})
		f.same(fmt.Sprintf("round %d", round), search.Query{Text: "second one"})
	}
}

// meddling changes each file after it was read, and waits until that was told.
type meddling struct {
	bytesOnDisk
	change func(p workspace.Path)
}

func (s *meddling) Text(p workspace.Path, data []byte) (string, error) {
	text, err := s.bytesOnDisk.Text(p, data)
	s.change(p)
	return text, err
}

func TestAFileThatChangesWhileItIsIndexed(t *testing.T) {
	f := newForest(t)
	f.tree.Start()
	for round := range 20 {
		f.Write("a/file", "the first text")
		f.warm()
		f.IndexNow(&meddling{change: func(workspace.Path) {
			f.Write("a/file", "the second one")
			f.Must(f.tree.Settle(context.Background()))
		}}, f.root)
		f.same(fmt.Sprintf("round %d", round), search.Query{Text: "second one"})
	}
}
