package diff

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
)

// hunksOfAll is Hunks by looking at all of both texts.
func hunksOfAll(before, after string, context int) []Hunk {
	v := view{before: SplitLines(before), after: SplitLines(after), atTop: true, atBottom: true, context: context}
	edits, _ := v.slide(unslid(v.before, v.after))
	return v.hunks(edits, "")
}

// TestLocal: what is found around the changes is what a look at the whole texts finds.
func TestLocal(t *testing.T) {
	machine.Rapid(t, 100, 1000)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"\n", "\n", "a\n", "  a\n", "\tb\n", "}\n", "func f() {\n", "unlike any other\n", "a\r\n"})
		lines := rapid.OneOf(rapid.SliceOfN(line, 0, 400), rapid.Map(rapid.SliceOfN(line, 1, 6), func(some []string) []string {
			return strings.SplitAfter(strings.Repeat(strings.Join(some, ""), 60), "\n")
		})).Draw(t, "lines")
		changed := lines
		for range rapid.IntRange(1, 4).Draw(t, "places") {
			at := rapid.IntRange(0, len(changed)).Draw(t, "at")
			upTo := min(len(changed), at+rapid.IntRange(0, 4).Draw(t, "gone"))
			came := rapid.SliceOfN(line, 0, 4).Draw(t, "came")
			if rapid.Bool().Draw(t, "more of the same") { // which can be shown in many places
				from := max(0, at-rapid.IntRange(1, 150).Draw(t, "lines of it"))
				came, upTo = changed[from:at], at
			}
			changed = slices.Concat(changed[:at], came, changed[upTo:])
		}
		before, after := strings.Join(lines, ""), strings.Join(changed, "")
		if rapid.Bool().Draw(t, "no final newline") {
			after = strings.TrimSuffix(after, "\n")
		}
		context := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(20, 100)).Draw(t, "context")
		if before == after {
			return
		}
		if got, want := Hunks(before, after, context), hunksOfAll(before, after, context); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}

// BenchmarkHunks is one changed line of 2,000.
func BenchmarkHunks(b *testing.B) {
	before := strings.Repeat("a line of text that is as long as lines are\n", 1000) + "this one\n" + strings.Repeat("and lines of text that are as long as lines are\n", 1000)
	after := strings.Replace(before, "this one", "that one", 1)
	for b.Loop() {
		Hunks(before, after, 3)
	}
}
