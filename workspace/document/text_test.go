package document

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pillion/internal/testrig/machine"
)

// texts are built of what goes wrong: all line ends and halves of them, characters
// of one to four bytes, repeated lines, no end at the end.
var texts = rapid.Custom(func(t *rapid.T) string {
	pieces := []string{"\n", "\r\n", "\r", "\n", "a", "b", "é", "語", "😀", "\t", " ", "line\n", "line\r\n", "\u2028", "\ufeff", "e\u0301"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
})

// edited is text with some of its lines changed, moved, dropped or doubled.
func edited(t *rapid.T, text string) string {
	lines := strings.SplitAfter(text, "\n")
	var out []string
	for _, line := range lines {
		switch rapid.IntRange(0, 7).Draw(t, "what becomes of the line") {
		case 0:
		case 1:
			out = append(out, line, line)
		case 2:
			out = append(out, texts.Draw(t, "instead"))
		case 3:
			out = append(out, strings.TrimRight(line, "\r\n"))
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

func pair(t *rapid.T) (before, after string) {
	before = texts.Draw(t, "before")
	if rapid.Bool().Draw(t, "related") {
		return before, edited(t, before)
	}
	return before, texts.Draw(t, "after")
}

func applyAll(text string, edits []TextEdit) string {
	for i := len(edits) - 1; i >= 0; i-- {
		text = Apply(text, edits[i].Range, edits[i].NewText)
	}
	return text
}

func TestEditsGiveExactlyTheText(t *testing.T) {
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		before, after := pair(t)
		edits := Edits(before, after)
		if got := applyAll(before, edits); got != after {
			t.Fatalf("%q with %+v gives %q, not %q", before, edits, got, after)
		}
		checkEditsAreSound(t, before, after, edits)
	})
}

// checkEditsAreSound: in order, apart, never inside a character or between "\r"
// and "\n", and each a change.
func checkEditsAreSound(t *rapid.T, before, after string, edits []TextEdit) {
	if before == after && len(edits) > 0 {
		t.Fatalf("%+v for no change", edits)
	}
	last := -1
	for _, e := range edits {
		start, end := Offset(before, e.Range.Start), Offset(before, e.Range.End)
		switch {
		case start <= last || end < start:
			t.Fatalf("edits touch or are out of order: %+v", edits)
		case before[start:end] == e.NewText:
			t.Fatalf("%+v changes nothing", e)
		}
		for _, at := range []int{start, end} {
			if at < len(before) && !utf8.RuneStart(before[at]) {
				t.Fatalf("%+v cuts a character of %q", e, before)
			}
			if at > 0 && at < len(before) && before[at-1:at+1] == "\r\n" {
				t.Fatalf("%+v cuts a line end of %q", e, before)
			}
		}
		last = end
	}
}

func FuzzEdits(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"", "a"},
		{"a", ""},
		{"a\r\nb", "a\nb"},
		{"a\rb", "a\r\nb"},
		{"😀", "😁"},
		{"\r", "\r\r"},
		{"a\r\n\r\nb", "a\r\n\nb"},
		{"é", "è"},
		{"a\nb\nc", "a\nc"},
		{"x\r\n", "y\r\n"},
		{"\n\r", "\r\n"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if !utf8.ValidString(before) || !utf8.ValidString(after) {
			t.Skip("texts are UTF-8: the wire carries nothing else")
		}
		if got := applyAll(before, Edits(before, after)); got != after {
			t.Fatalf("%q to %q gives %q", before, after, got)
		}
	})
}

func TestOffsetCountsAsLSP(t *testing.T) {
	const text = "a😀b\r\nc\rd\n\ne"
	for _, c := range []struct {
		line, character uint32
		want            int
	}{
		{0, 0, 0},
		{0, 1, 1},
		{0, 3, 5},        // after both halves of the surrogate pair
		{0, 4, 6},        // the end of the line
		{0, 99, 6},       // beyond it
		{1, 0, 8},        // after "\r\n"
		{2, 0, 10},       // after a lone "\r"
		{3, 0, 12},       // an empty line
		{3, 5, 12},       // beyond its end
		{4, 1, 14},       // the end of the text
		{5, 0, 14},       // no such line
		{1 << 31, 7, 14}, /* nor this */
	} {
		if got := Offset(text, Position{c.line, c.character}); got != c.want {
			t.Errorf("%d:%d is byte %d, want %d", c.line, c.character, got, c.want)
		}
	}
}

func TestOffsetMirrorsPosition(t *testing.T) {
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		c := cursor{text: text}
		for at, r := range text + "$" {
			if at > 0 && at < len(text) && text[at-1:at+1] == "\r\n" {
				continue // no position lies inside a line end
			}
			p := c.position(at)
			if got := Offset(text, p); got != at {
				t.Fatalf("%q: byte %d (%q) is %+v, which is byte %d", text, at, r, p, got)
			}
			line := text[c.lineStart:at]
			if units := len(utf16.Encode([]rune(line))); uint32(units) != p.Character {
				t.Fatalf("%q: %+v, want character %d", text, p, units)
			}
		}
	})
}

func TestKeptLineEnds(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"CRLF throughout", "a\r\nb\r\n", "a\nX\nb\n", "a\r\nX\r\nb\r\n"},
		{"mixed: each line keeps its own", "a\r\nb\nc\r\n", "a\nb\nX\nc\n", "a\r\nb\nX\nc\r\n"},
		{"a new first line is like the first", "a\r\nb\n", "X\na\nb\n", "X\r\na\r\nb\n"},
		{"no end at the end stays none", "a\r\nb", "a\nb", "a\r\nb"},
		{"an end is added as above", "a\r\nb", "a\nb\n", "a\r\nb\r\n"},
		{"carriage returns of the agent's own", "a\r\nb\r\n", "a\nb\r\n", "a\nb\r\n"},
		{"nothing to keep", "a\nb\n", "a\nX\n", "a\nX\n"},
		{"everything goes", "a\r\n", "", ""},
		{"everything is new", "a\r\n", "x\ny\n", "x\r\ny\r\n"},
	} {
		if got := KeepLineEnds(c.before, c.after); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRestoredLineEnds: an editor shows all line ends alike; whatever it makes of
// them, the lines that are as they were keep theirs.
func TestRestoredLineEnds(t *testing.T) {
	if got := RestoreLineEnds("a\r\nb\nc\r\nd\n", "a\r\nb\r\nC\r\nd\r\n"); got != "a\r\nb\nC\nd\n" {
		t.Errorf("of an edited line: %q", got)
	}
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		shown := texts.Draw(t, "shown")
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "the editor's end")
		through := strings.ReplaceAll(PlainLineEnds(shown), "\n", end)
		if got := RestoreLineEnds(shown, through); got != shown {
			t.Fatalf("%q through an editor that shows %q became %q", shown, through, got)
		}
		human := strings.ReplaceAll(PlainLineEnds(edited(t, shown)), "\n", end)
		got := RestoreLineEnds(shown, human)
		if PlainLineEnds(got) != PlainLineEnds(human) {
			t.Fatalf("%q: the text itself became %q", human, got)
		}
	})
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		text  string
		eol   string
		count int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"a\n", "lf", 1},
		{"a\r\nb", "crlf", 2},
		{"a\r\nb\n", "mixed", 2},
		{"a\rb", "", 1},
		{"\n\n", "lf", 2},
	} {
		if EOL(c.text) != c.eol || LineCount(c.text) != c.count {
			t.Errorf("%q: %s, %d lines", c.text, EOL(c.text), LineCount(c.text))
		}
	}
	for _, c := range []struct {
		text     string
		from, to int
		want     string
	}{{"a\r\nb\nc", 2, 3, "b\nc"}, {"a\nb\n", 2, 9, "b\n"}, {"a\nb\n", 5, 9, ""}} {
		if got := LineRange(c.text, c.from, c.to); got != c.want {
			t.Errorf("lines %d to %d of %q: %q", c.from, c.to, c.text, got)
		}
	}
}

func TestLinesInRangesAreTheText(t *testing.T) {
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		n := LineCount(text)
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		if got := LineRange(text, 1, cut) + LineRange(text, cut+1, n); got != text {
			t.Fatalf("%q cut at line %d is %q", text, cut, got)
		}
	})
}

func TestLinesThatPositionsCount(t *testing.T) {
	for text, want := range map[string][]string{
		"": {""}, "a": {"a"}, "a\n": {"a", ""}, "a\r\nb\rc\n\n": {"a", "b", "c", "", ""},
	} {
		if got := Lines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Units("é😀"); got != 3 {
		t.Errorf("é and 😀 are %d units", got)
	}
}

// A line break is found wherever it stands among the eight bytes that are looked at together.
func TestLineBreaksAreFoundEverywhere(t *testing.T) {
	machine.Rapid(t, 200, 1000)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abcdefgh\u010a\u0a0d\n\r\x0b\x0c\x00\x7f\u00ff")), 0, 40, -1).Draw(t, "text")
		want := -1
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			if want = i + 1; strings.HasPrefix(text[i:], "\r\n") {
				want = i + 2
			}
		}
		if got := LineBreak(text); got != want {
			t.Fatalf("the first line of %q has %d bytes, not %d", text, want, got)
		}
		lines := Lines(text)
		for i, line := range lines {
			if got, ok := Line(text, i); got != line || !ok {
				t.Fatalf("line %d of %q is %q (%v), not %q", i, text, got, ok, line)
			}
		}
		if got, ok := Line(text, len(lines)); ok {
			t.Fatalf("%q has a line %d: %q", text, len(lines), got)
		}
	})
}

// TestALineFeedAfterACarriageReturn would make one line end of two.
func TestALineFeedAfterACarriageReturn(t *testing.T) {
	if got := joinWithEnds([]string{"a\n", "\n"}, []string{"\r", "\n"}, "\n"); got != "a\r\r" {
		t.Errorf("%q", got)
	}
}
