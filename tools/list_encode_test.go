package tools

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/wire"
	"pillion/workspace"
)

// What a model reads of a list is made twice, as it is and in JSON; the two must be the
// same, however odd the names.
func TestTheTextOfAListIsTheSameInJSON(t *testing.T) {
	names := []string{"plain.txt", `back\slash`, `"quoted"`, "new\nline", "tab\t", "ö€😀", "bad\xff", "\xe2\x82", "\u2028", "\u202e", "", " ", "\x00"}
	for _, prefix := range names {
		l := newListEncoder()
		l.enter(prefix + "/")
		for i, name := range names {
			l.add(&workspace.Listed{Name: name, Type: []fs.FileMode{0, fs.ModeDir, fs.ModeSymlink}[i%3], Size: int64(i)})
		}
		want := wire.AppendString(nil, l.text.String())
		if got := append(bytes.Clone(l.json), '"'); !bytes.Equal(got, want) {
			t.Errorf("below %q:\n%s\nwant\n%s", prefix, got, want)
		}
		var files []struct{ Name, Path, Type string }
		_, list, _ := strings.Cut(string(l.files), `"files":`)
		if err := json.Unmarshal([]byte(list+"]"), &files); err != nil || len(files) != len(names) {
			t.Fatalf("%d files: %v in %s", len(files), err, list)
		}
		for i, f := range files {
			if whole := strings.ToValidUTF8(prefix, "\ufffd") + "/" + f.Name; i < 6 && prefix != "\xe2\x82" && f.Path != whole {
				t.Errorf("the path is %q, want %q", f.Path, whole)
			}
		}
	}
}

func TestTimestampsAreRFC3339(t *testing.T) {
	var s timestamps
	check := func(second int64) {
		at := time.Unix(second, rand.Int64N(1e9))
		if got, want := string(s.append(nil, at)), at.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%d: %s, want %s", second, got, want)
		}
	}
	for _, second := range []int64{0, 0, 1, -1, -1, -86_400, -86_399, 86_399, 86_400, 1_700_000_000, 253_402_300_799, 253_402_300_800, 253_402_300_801} {
		check(second)
	}
	for range 2000 {
		day := 20_000 + rand.Int64N(3)
		check(day*secondsADay + rand.Int64N(secondsADay))
	}
}

func TestKeptListingsAreBounded(t *testing.T) {
	var k listings
	a, b := &workspace.Contents{}, &workspace.Contents{}
	keep := func(of *workspace.Contents, limit, size int) {
		k.keep(listed{of: of, limit: limit, answer: &Answer{}, size: size})
	}
	kept := func() (out []int) {
		for _, one := range k.kept {
			out = append(out, one.limit)
		}
		return out
	}
	check := func(when string, want ...int) {
		t.Helper()
		if got := kept(); !slices.Equal(got, want) {
			t.Errorf("%s: %v are kept, want %v", when, got, want)
		}
	}
	for i := range 6 {
		keep(a, i, 1)
	}
	check("six small ones", 2, 3, 4, 5)
	keep(a, 6, mostListedBytes-2)
	check("a large one", 4, 5, 6)
	keep(a, 7, mostListedBytes)
	check("a larger one", 7)
	keep(a, 8, mostListedBytes+1)
	check("one that is too large")
	keep(a, 9, 1)
	if k.find(a, listFilesArgs{}, 9) == nil || k.find(b, listFilesArgs{}, 9) != nil || k.find(a, listFilesArgs{Pattern: "*"}, 9) != nil {
		t.Error("what is kept is given for another list, or not for its own")
	}
	keep(b, 10, 1)
	check("the folder has changed", 10)
	k.drop()
	check("nobody wanted it")
	keep(b, 11, 1)
	if k.end == nil || !k.end.Stop() {
		t.Error("nothing drops it when nobody wants it")
	}
}
