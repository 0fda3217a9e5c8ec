package lines_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pillion/internal/testrig/machine"
	"pillion/workspace/lines"
)

func file(t *testing.T, data []byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	machine.Must(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.Write(data)
	machine.Must(t, err)
	return f
}

func spell(text string, unit lines.Unit) []byte {
	if unit == lines.Bytes {
		return []byte(text)
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if unit == lines.LittleEndian {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

// Each line of a text of several strides is where it is, in each unit.
func TestEachLineIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, last := range []string{"", "no line feed at the end"} {
		var text strings.Builder
		var want []string
		for i := 0; text.Len() < 2<<20; i++ {
			// U+0A0A, U+0A00 and U+000A are three characters: none may be taken for another.
			line := fmt.Sprintf("%d %s\n", i, strings.Repeat("\u0a0a\u0a00x", random.IntN(3)*random.IntN(400)))
			if i == 200 {
				line = strings.Repeat("x", 1200<<10) + "\n"
			}
			want = append(want, line)
			text.WriteString(line)
		}
		if last != "" {
			want = append(want, last)
			text.WriteString(last)
		}
		for _, unit := range []lines.Unit{lines.Bytes, lines.LittleEndian, lines.BigEndian} {
			data := spell(text.String(), unit)
			f := file(t, data)
			x, err := lines.NewIndex(context.Background(), f, int64(len(data)), unit)
			machine.Must(t, err)
			if x.Lines() != len(want) {
				t.Fatalf("unit %d: %d lines, not %d", unit, x.Lines(), len(want))
			}
			for _, n := range []int{1, 2, 100, 199, 200, 201, 202, 203, 250, len(want) - 1, len(want)} {
				from, to, err := x.Range(f, n, n+1)
				machine.Must(t, err)
				expected := spell(strings.Join(want[n-1:min(n+1, len(want))], ""), unit)
				if got := data[from:to]; string(got) != string(expected) {
					t.Errorf("unit %d, line %d: %d bytes from %d, not %d", unit, n, len(got), from, len(expected))
				}
			}
			if from, to, err := x.Range(f, len(want)+1, len(want)+5); err != nil || from != int64(len(data)) || to != from {
				t.Errorf("unit %d, past the end: %d to %d, %v", unit, from, to, err)
			}
		}
	}
}

func TestSmallFiles(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		f := file(t, []byte(text))
		x, err := lines.NewIndex(context.Background(), f, int64(len(text)), lines.Bytes)
		if err != nil || x.Lines() != want {
			t.Errorf("%q: %d lines, %v", text, x.Lines(), err)
		}
	}
}

// A hole of ten gigabytes is not read: this would take the test's whole time.
func TestHolesAreSkipped(t *testing.T) {
	f := file(t, []byte("first\n"))
	const end = 10 << 30
	_, err := f.WriteAt([]byte("last\nopen"), end)
	machine.Must(t, err)
	x, err := lines.NewIndex(context.Background(), f, end+9, lines.Bytes)
	if err != nil || x.Lines() != 3 {
		t.Fatalf("%d lines, %v", x.Lines(), err)
	}
	if from, to, err := x.Range(f, 3, 3); from != end+5 || to != end+9 || err != nil {
		t.Errorf("the last line is from %d to %d, %v", from, to, err)
	}
}

func TestAFileThatBecomesShorter(t *testing.T) {
	f := file(t, []byte(strings.Repeat("x\n", 1<<20)))
	if _, err := lines.NewIndex(context.Background(), f, 4<<20, lines.Bytes); !errors.Is(err, lines.ErrShorter) {
		t.Errorf("counting: %v", err)
	}
	x, err := lines.NewIndex(context.Background(), f, 2<<20, lines.Bytes)
	machine.Must(t, err)
	machine.Must(t, f.Truncate(100))
	if _, _, err := x.Range(f, 1<<19, 1<<19); !errors.Is(err, lines.ErrShorter) {
		t.Errorf("finding: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lines.NewIndex(ctx, file(t, []byte("a\n")), 2, lines.Bytes); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What is kept is found again as long as the stamp is the same, and a file that
// was written a moment ago is not kept.
func TestCache(t *testing.T) {
	f := file(t, []byte("a\nb\n"))
	var c lines.Cache
	name, touched := "one", time.Now().Add(-time.Hour)
	stamp := func() (string, time.Time) { return name, touched }
	index := func(unit lines.Unit) *lines.Index {
		x, err := c.Index(context.Background(), f, 4, unit, stamp)
		machine.Must(t, err)
		return x
	}
	first := index(lines.Bytes)
	if index(lines.Bytes) != first {
		t.Error("the index was not kept")
	}
	if index(lines.LittleEndian) == first {
		t.Error("one index for two units")
	}
	if name = "two"; index(lines.Bytes) == first {
		t.Error("an index of another version")
	}
	name, touched = "three", time.Now()
	if first = index(lines.Bytes); index(lines.Bytes) == first {
		t.Error("an index was kept of a file that may just be written")
	}
	name, touched = "one", time.Now().Add(-time.Hour)
	first = index(lines.Bytes)
	for i := range 40 {
		name = fmt.Sprint("other ", i)
		index(lines.Bytes)
	}
	if name = "one"; index(lines.Bytes) == first {
		t.Error("the cache keeps too much")
	}
}
