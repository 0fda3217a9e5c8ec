package diff

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLocal: what is found around one change is what a look at the whole texts finds.
func TestLocal(t *testing.T) {
	made := 0
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"\n", "\n", "a\n", "  a\n", "\tb\n", "}\n", "func f() {\n", "unlike any other\n", "a\r\n"})
		lines := rapid.OneOf(rapid.SliceOfN(line, 0, 400), rapid.Map(rapid.SliceOfN(line, 1, 6), func(some []string) []string {
			return strings.SplitAfter(strings.Repeat(strings.Join(some, ""), 60), "\n")
		})).Draw(t, "lines")
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		upTo := min(len(lines), at+rapid.IntRange(0, 4).Draw(t, "gone"))
		came := strings.Join(rapid.SliceOfN(line, 0, 4).Draw(t, "came"), "")
		if rapid.Bool().Draw(t, "more of the same") { // which can be shown in many places
			from := max(0, at-rapid.IntRange(1, 150).Draw(t, "lines of it"))
			came, upTo = strings.Join(lines[from:at], ""), at
		}
		before := strings.Join(lines, "")
		after := strings.Join(lines[:at], "") + came + strings.Join(lines[upTo:], "")
		if rapid.Bool().Draw(t, "no final newline") {
			after = strings.TrimSuffix(after, "\n")
		}
		context := rapid.IntRange(0, 5).Draw(t, "context")
		if before == after {
			return
		}
		got, ok := local(before, after, context)
		if !ok {
			return
		}
		made++
		if want := hunks(before, after, context); len(want) != 1 || !reflect.DeepEqual(got, want[0]) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
	if made < 10 {
		t.Errorf("only %d were looked at in part", made)
	}
}

// BenchmarkHunks is one changed line of 2,000.
func BenchmarkHunks(b *testing.B) {
	before := strings.Repeat("a line of text that is as long as lines are\n", 1000) + "this one\n" + strings.Repeat("and lines of text that are as long as lines are\n", 1000)
	after := strings.Replace(before, "this one", "that one", 1)
	for b.Loop() {
		Hunks(before, after, 3)
	}
}
