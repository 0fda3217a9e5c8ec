package diff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pillion/workspace/diff"
)

func TestSplitLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":            nil,
		"\n":          {"\n"},
		"a":           {"a"},
		"a\nb":        {"a\n", "b"},
		"a\r\nb\rc\n": {"a\r\n", "b\rc\n"},
		"\n\n":        {"\n", "\n"},
	} {
		if got := diff.SplitLines(text); !slices.Equal(got, want) {
			t.Errorf("SplitLines(%q) = %q, want %q", text, got, want)
		}
	}
}

// apply runs the edits on before, checking that they rise, do not touch and
// leave equal text between them.
func apply(t testing.TB, before, after []string, edits []diff.Edit) []string {
	t.Helper()
	var out []string
	i, j := 0, 0
	for n, e := range edits {
		if n > 0 && e.OldStart == i && e.NewStart == j {
			t.Fatalf("edit %d touches the one before: %+v", n, edits)
		}
		if e.OldStart < i || e.NewStart < j || e.OldEnd < e.OldStart || e.NewEnd < e.NewStart ||
			e.OldEnd > len(before) || e.NewEnd > len(after) || e.OldStart-i != e.NewStart-j ||
			e.OldStart == e.OldEnd && e.NewStart == e.NewEnd {
			t.Fatalf("edit %d out of order: %+v", n, edits)
		}
		out = append(out, before[i:e.OldStart]...)
		out = append(out, after[e.NewStart:e.NewEnd]...)
		i, j = e.OldEnd, e.NewEnd
	}
	return append(out, before[i:]...)
}

func check(t testing.TB, before, after string) []diff.Edit {
	t.Helper()
	a, b := diff.SplitLines(before), diff.SplitLines(after)
	edits := diff.Lines(a, b)
	if got := apply(t, a, b, edits); !slices.Equal(got, b) {
		t.Fatalf("the script gives another text\nbefore %q\nafter  %q\ngot    %q", before, after, strings.Join(got, ""))
	}
	return edits
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                []diff.Edit
	}{
		{"both empty", "", "", nil},
		{"equal", "a\nb\n", "a\nb\n", nil},
		{"created", "", "a\nb\n", []diff.Edit{{0, 0, 0, 2}}},
		{"emptied", "a\nb\n", "", []diff.Edit{{0, 2, 0, 0}}},
		{"replaced", "a\nb\nc\n", "a\nx\nc\n", []diff.Edit{{1, 2, 1, 2}}},
		{"final newline lost", "a\nb\n", "a\nb", []diff.Edit{{1, 2, 1, 2}}},
		{"two places", "a\nb\nc\nd\ne\n", "b\nc\nd\ne\nf\n", []diff.Edit{{0, 1, 0, 0}, {5, 5, 4, 5}}},
		{"insertion goes below its like", "a\nb\n", "a\na\nb\n", []diff.Edit{{1, 1, 1, 2}}},
		{"edits that can touch do", "q\na\na\nq\n", "q\na\na\na\nr\n", []diff.Edit{{3, 4, 3, 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := check(t, c.before, c.after); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A function inserted between two others is shown whole, not from the inside
// of one to the inside of the next.
func TestSlideShowsWholeBlocks(t *testing.T) {
	const block = "func %s() {\n\tif x {\n\t\treturn\n\t}\n}\n\n"
	name := func(s string) string { return fmt.Sprintf(block, s) }
	hunks := diff.Hunks(name("one")+name("three"), name("one")+name("two")+name("three"), 0)
	if want := "@@ -6,0 +7,6 @@ func one() {\n" + prefixed("+", name("two")); diff.Unified(hunks) != want {
		t.Errorf("got\n%swant\n%s", diff.Unified(hunks), want)
	}
}

func prefixed(by, text string) string {
	return by + strings.Join(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), by) + "\n"
}

// shortest is the length of the shortest script, by the textbook's table.
func shortest(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			longest := max(row[j], row[j+1])
			if x == y {
				longest = max(longest, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], longest
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

func size(edits []diff.Edit) int {
	n := 0
	for _, e := range edits {
		n += e.OldEnd - e.OldStart + e.NewEnd - e.NewStart
	}
	return n
}

// randomText is lines lines out of an alphabet of letters, some without an end.
func randomText(r *rand.Rand, lines, letters int) string {
	var out strings.Builder
	for range lines {
		fmt.Fprintf(&out, "%s%c\n", strings.Repeat("\t", r.IntN(3)), 'a'+r.IntN(letters))
	}
	text := out.String()
	if r.IntN(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

// mutated changes, moves, drops and doubles some lines of a text.
func mutated(r *rand.Rand, text string, edits int) string {
	lines := diff.SplitLines(text)
	for range edits {
		at := r.IntN(len(lines) + 1)
		switch {
		case r.IntN(3) == 0 || at == len(lines):
			lines = slices.Insert(lines, at, fmt.Sprintf("new %d\n", r.IntN(5)))
		case r.IntN(2) == 0:
			lines = slices.Delete(lines, at, min(len(lines), at+1+r.IntN(3)))
		default:
			lines = slices.Insert(lines, r.IntN(at+1), lines[at])
		}
	}
	return strings.Join(lines, "")
}

func TestRandomScripts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	longer, total := 0, 0
	for i := range 3000 {
		before := randomText(r, r.IntN(40), 1+r.IntN(12))
		after := randomText(r, r.IntN(40), 1+r.IntN(12))
		if i%2 == 0 {
			after = mutated(r, before, r.IntN(12))
		}
		edits := check(t, before, after)
		least := shortest(diff.SplitLines(before), diff.SplitLines(after))
		total += least
		longer += size(edits) - least
	}
	if longer*50 > total {
		t.Errorf("scripts are %d lines longer than the shortest, which have %d: more than 2 %%", longer, total)
	}
}

func TestDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	before := randomText(r, 500, 9)
	after := mutated(r, before, 100)
	want := diff.Unified(diff.Hunks(before, after, 3))
	for range 5 {
		if got := diff.Unified(diff.Hunks(before, after, 3)); got != want {
			t.Fatal("the same texts gave another diff")
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("", "a")
	f.Add("a\nb\nc\n", "c\nb\na\n")
	f.Add("a\na\na\na\n", "a\na\n")
	f.Add("x\n\ny\n\nz", "x\n\nq\n\nz\n")
	f.Add("\r\n\r", "\r\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		check(t, before, after)
		hunks := diff.Hunks(before, after, 3)
		if (len(hunks) == 0) != (before == after) {
			t.Fatalf("%d hunks between %q and %q", len(hunks), before, after)
		}
	})
}
