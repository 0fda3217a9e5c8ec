package change

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

// TestMerge: what FuzzMerge, which asks git, has no letters for.
func TestMerge(t *testing.T) {
	if got, ok := Merge("a\nb\nc\nd\ne\n", "a\r\nb\r\nc\r\nd\r\ne\r\n", "a\nb\nX\nd\ne\n"); got != "" || ok {
		t.Errorf("line ends against text: %q, %v", got, ok)
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
		checkMerge(t, versions.Draw(t, "base"), versions.Draw(t, "x"), versions.Draw(t, "y"))
	})
}

// checkNothingIsLost: every line that a side added is in the result as often as
// the side has it more than the base, and every line that it dropped is not
// there more often than the other side made it.
func checkNothingIsLost(t failer, base, merged, side string) {
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
