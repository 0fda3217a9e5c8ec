package tools

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIndex finds what strings.Index finds, also where what is rare at first is not so
// further on.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 40, -1)
		later := rapid.StringOfN(rapid.RuneFrom([]rune("abcd")), 0, 40, -1)
		text := strings.Repeat(part.Draw(t, "first"), rapid.IntRange(0, 300).Draw(t, "times")) + strings.Repeat(later.Draw(t, "then"), rapid.IntRange(0, 300).Draw(t, "more")) + part.Draw(t, "last")
		sought := rapid.OneOf(part, later).Draw(t, "sought")
		if rapid.Bool().Draw(t, "from the text") && text != "" {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			sought = text[at:min(len(text), at+rapid.IntRange(1, 30).Draw(t, "length"))]
		}
		if got, want := index(text, sought), strings.Index(text, sought); got != want {
			t.Fatalf("%q is at %d, not %d", sought, want, got)
		}
	})
}
