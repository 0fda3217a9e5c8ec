package code

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/workspace/document"
)

func TestTextEditsMakeWhatTheySay(t *testing.T) {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "\r\n", "\r", "a", "b", "é", "😀", "line\n", " "}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		before, after := strings.Join(pieces.Draw(t, "before"), ""), strings.Join(pieces.Draw(t, "after"), "")
		edits := document.Edits(before, after)
		slices.Reverse(edits) // their order is no matter
		got, err := applyTextEdits(before, edits)
		if err != nil || got != after {
			t.Fatalf("%q, %v, want %q", got, err, after)
		}
	})
}

func TestTextEditsThatMeet(t *testing.T) {
	at := func(from, to uint32, text string) document.TextEdit {
		return document.TextEdit{Range: document.Range{Start: document.Position{Character: from}, End: document.Position{Character: to}}, NewText: text}
	}
	for _, c := range []struct {
		edits []document.TextEdit
		want  string // "": refused
	}{
		{[]document.TextEdit{at(2, 2, "1"), at(2, 2, "2"), at(2, 4, "X")}, "ab12Xef"}, // two insertions, in their order
		{[]document.TextEdit{at(2, 4, "X"), at(0, 2, "Y")}, "YXef"},
		{[]document.TextEdit{at(2, 4, "X"), at(4, 4, "Y")}, "abXYef"},
		{[]document.TextEdit{at(5, 900, "X")}, "abcdeX"}, // beyond the end is the end
		{[]document.TextEdit{at(2, 4, "X"), at(3, 3, "Y")}, ""},
		{[]document.TextEdit{at(2, 4, "X"), at(2, 4, "X")}, ""},
		{[]document.TextEdit{at(4, 2, "X")}, ""},
		{nil, "abcdef"},
	} {
		if got, err := applyTextEdits("abcdef", c.edits); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v: %q, %v, want %q", c.edits, got, err, c.want)
		}
	}
}
