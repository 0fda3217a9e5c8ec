package change

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

func TestMerge(t *testing.T) {
	const base = "a\nb\nc\nd\ne\n"
	for _, c := range []struct {
		name, ours, theirs, want string
		ok                       bool
	}{
		{"nothing", base, base, base, true},
		{"different lines", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", true},
		{"the same change", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", true},
		{"the same line in two ways", "a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n", "", false},
		{"lines that touch", "a\nX\nc\nd\ne\n", "a\nb\nY\nd\ne\n", "", false},
		{"one unchanged line between", "X\nb\nc\nd\ne\n", "a\nb\nY\nd\ne\n", "X\nb\nY\nd\ne\n", true},
		{"a deletion against a change in it", "a\ne\n", "a\nb\nX\nd\ne\n", "", false},
		{"two insertions at one place", "a\nX\nb\nc\nd\ne\n", "a\nY\nb\nc\nd\ne\n", "", false},
		{"one insertion by both", "a\nX\nb\nc\nd\ne\n", "a\nX\nb\nc\nd\ne\n", "a\nX\nb\nc\nd\ne\n", true},
		{"at both ends", "X\n" + base, base + "Y\n", "X\n" + base + "Y\n", true},
		{"one deletes all, the other changes", "", "A\nb\nc\nd\ne\n", "", false},
		{"final newline", "a\nb\nc\nd\ne", "A\nb\nc\nd\ne\n", "A\nb\nc\nd\ne", true},
		{"line ends against text", "a\r\nb\r\nc\r\nd\r\ne\r\n", "a\nb\nX\nd\ne\n", "", false},
	} {
		for _, turned := range []bool{false, true} {
			ours, theirs := c.ours, c.theirs
			if turned {
				ours, theirs = theirs, ours
			}
			if got, ok := Merge(base, ours, theirs); got != c.want || ok != c.ok {
				t.Errorf("%s (turned: %v): %q, %v", c.name, turned, got, ok)
			}
		}
	}
}

// versions are texts of few different lines, so that they have much in common.
var versions = rapid.Custom(func(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\r\n", "\n"}), 0, 9).Draw(t, "lines"), "")
	if rapid.IntRange(0, 3).Draw(t, "final newline") == 0 {
		return strings.TrimSuffix(text, "\n")
	}
	return text
})

func TestMergeProperties(t *testing.T) {
	machine.Rapid(t, 100, 1000)
	rapid.Check(t, func(t *rapid.T) {
		base, x, y := versions.Draw(t, "base"), versions.Draw(t, "x"), versions.Draw(t, "y")
		wantMerge(t, base, base, x, x)
		wantMerge(t, base, x, base, x)
		wantMerge(t, base, x, x, x)
		merged, ok := Merge(base, x, y)
		turned, turnedOK := Merge(base, y, x)
		if ok != turnedOK || merged != turned {
			t.Fatalf("the sides count differently: %q, %v and %q, %v", merged, ok, turned, turnedOK)
		}
		if ok {
			checkNothingIsLost(t, base, merged, x)
			checkNothingIsLost(t, base, merged, y)
		} else if merged != "" {
			t.Fatalf("a conflict gave a text: %q", merged)
		}
	})
}

func wantMerge(t *rapid.T, base, ours, theirs, want string) {
	if got, ok := Merge(base, ours, theirs); !ok || got != want {
		t.Fatalf("Merge(%q, %q, %q) is %q, %v; want %q", base, ours, theirs, got, ok, want)
	}
}

// checkNothingIsLost: every line that a side added is in the result as often as
// the side has it more than the base, and every line that it dropped is not
// there more often than the other side made it.
func checkNothingIsLost(t *rapid.T, base, merged, side string) {
	lines, all := diff.SplitLines(base), diff.SplitLines(side)
	result := diff.SplitLines(merged)
	at := 0
	for _, e := range diff.Lines(lines, all) {
		added := all[e.NewStart:e.NewEnd]
		if len(added) == 0 {
			continue
		}
		i := indexOf(result[at:], added)
		if i < 0 {
			t.Fatalf("%q lost %q of %q", merged, added, side)
		}
		at += i + len(added)
	}
}

func indexOf(lines, part []string) int {
	for i := 0; i+len(part) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}
