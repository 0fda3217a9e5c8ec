package lspbridge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pillion/workspace/document"
)

func TestPositionsInEachEncoding(t *testing.T) {
	const text = "é🎉x\r\n🎉\ny"
	for _, c := range []struct {
		encoding     encoding
		ours, theirs document.Position
	}{
		{utf16, at(0, 3), at(0, 3)},
		{utf8Units, at(0, 3), at(0, 6)},
		{utf32, at(0, 3), at(0, 2)},
		{utf8Units, at(1, 2), at(1, 4)},
		{utf32, at(2, 1), at(2, 1)},
		{utf16, at(0, 99), at(0, 4)}, // past the end of a line, which "\r\n" ends
		{utf8Units, at(0, 99), at(0, 7)},
		{utf32, at(9, 5), at(2, 1)}, // past the last line
	} {
		if got := c.encoding.theirs(text, c.ours); got != c.theirs {
			t.Errorf("%s: %v is %v to the server, want %v", c.encoding, c.ours, got, c.theirs)
		}
	}
	for _, e := range []encoding{utf8Units, utf32} {
		there := document.Range{Start: e.theirs(text, at(0, 1)), End: e.theirs(text, at(1, 2))}
		if back := e.oursRange(text, there); back != (document.Range{Start: at(0, 1), End: at(1, 2)}) {
			t.Errorf("%s: %v came back as %v", e, there, back)
		}
	}
}

// TestTheSpanMakesTheNewText applies what a server is told to what it had.
func TestTheSpanMakesTheNewText(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "é", "🎉", "\n", "\r\n", "日", ""})
	texts := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), "") })
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		for _, e := range []encoding{utf8Units, utf16, utf32} {
			change := span(before, after, e)
			if got := document.Apply(before, e.oursRange(before, document.Range{Start: document.Position(change.Range.Start), End: document.Position(change.Range.End)}), change.Text); got != after || !utf8.ValidString(change.Text) {
				t.Fatalf("%s: %q with %+v is %q, want %q", e, before, change, got, after)
			}
		}
	})
}
