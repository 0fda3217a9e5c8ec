package match

import (
	"slices"
	"strings"
	"testing"
)

// FuzzFindText compares the matcher with one that is slow and says what it means.
func FuzzFindText(f *testing.F) {
	for _, seed := range [][2]string{
		{"a\nb\nc\n", "b\n"},
		{"aaa", "aa"},
		{"one  \ntwo\t\r\nthree", "one\ntwo\nthree"},
		{"one\r\ntwo\r\n", "one\ntwo\n"},
		{"\tif x {\n\t\ty()\n\t}\n", "if x {\n  y()\n}\n"},
		{"x = \t1\n", "x = "},
		{"a\rb\r", "a\nb\n"},
		{"  a\n\n  b", "a\n\nb\n"},
		{"a\n", "a\n\n"},
		{"a\na\na\n", "a \na"},
		{" \t\n", " "},
		{"é\r\n", "é \n"},
		{"\r", "0\n"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, old string) {
		if old == "" || len(text) > 80 || len(old) > 40 {
			return
		}
		got, want := Text(text, old), obviousFind(text, old)
		if got.Leniency != want.Leniency || !slices.Equal(got.Spans, want.Spans) || (got.Twin != nil) != (want.Twin != nil) {
			t.Fatalf("%q in %q: %v %q (Twin %v), and it is %v %q (Twin %v)", old, text,
				got.Spans, got.Leniency, got.Twin, want.Spans, want.Leniency, want.Twin)
		}
	})
}

// obviousFind tries every place in turn.
func obviousFind(text, old string) Found {
	var exact, trimmed, indented []Span
	for start := range len(text) {
		for end := start + 1; end <= len(text); end++ {
			part := text[start:end]
			atLineStart := start == 0 || text[start-1] == '\n'
			atLineEnd := end == len(text) || text[end-1] == '\n'
			switch {
			case part == old:
				exact = append(exact, Span{start, end})
			case sameTrimmed(text, start, end, old):
				trimmed = append(trimmed, Span{start, end})
			}
			if atLineStart && atLineEnd && sameIndented(part, old) {
				indented = append(indented, Span{start, end})
			}
		}
	}
	var returns []Span
	if strings.Contains(text, "\r") && !strings.Contains(text, "\n") && strings.Contains(old, "\n") {
		plain := strings.ReplaceAll(old, "\n", "\r")
		for start := range len(text) {
			if strings.HasPrefix(text[start:], plain) {
				returns = append(returns, Span{start, start + len(plain)})
			}
		}
	}
	switch {
	case exact != nil:
		return obviouslyApart(exact, "")
	case returns != nil:
		return obviouslyApart(returns, UpToBlanks)
	case trimmed != nil:
		return obviouslyApart(trimmed, UpToBlanks)
	case len(indented) == 1:
		s := indented[0]
		if !strings.HasSuffix(old, "\n") {
			s.End -= len(text[s.Start:s.End]) - len(strings.TrimSuffix(strings.TrimSuffix(text[s.Start:s.End], "\n"), "\r"))
		}
		return Found{Spans: []Span{s}, Leniency: UpToIndentation}
	}
	return Found{}
}

// sameTrimmed: the part is old but for blanks that end lines, of the text and of old.
func sameTrimmed(text string, start, end int, old string) bool {
	have, want := strings.Split(text[start:end], "\n"), strings.Split(old, "\n")
	if len(have) != len(want) || strings.TrimSpace(strings.ReplaceAll(old, "\n", "")) == "" && strings.Trim(old, " \t\r\n") == "" {
		return false
	}
	last := len(want) - 1
	bare := func(s string) string { return strings.TrimRight(s, " \t\r") }
	for i := range want[:last] {
		if bare(have[i]) != bare(want[i]) {
			return false
		}
	}
	// Blanks before the first line's text belong to it, those after the last's do not.
	if rest := text[end:]; bare(want[last]) != want[last] {
		line, _, _ := strings.Cut(rest, "\n")
		if bare(line) != "" {
			return false
		}
	} else if last == 0 {
		return false
	}
	return have[last] == bare(want[last]) && (last == 0 || startsAtText(text, start, bare(want[0])))
}

// startsAtText: the part begins where the first line has its text, and at the end of
// that if it has none.
func startsAtText(text string, start int, first string) bool {
	line, _, _ := strings.Cut(text[start:], "\n")
	if first != "" {
		return strings.HasPrefix(line, first)
	}
	before := text[strings.LastIndex(text[:start], "\n")+1 : start]
	return strings.TrimRight(line, " \t\r") == "" && strings.TrimRight(before, " \t\r") == before
}

func sameIndented(part, old string) bool {
	have, want := strings.Split(strings.TrimSuffix(part, "\n"), "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if len(have) != len(want) || strings.TrimSpace(old) == "" {
		return false
	}
	for i := range want {
		if strings.TrimRight(strings.TrimLeft(have[i], " \t"), " \t\r") != strings.TrimRight(strings.TrimLeft(want[i], " \t"), " \t\r") {
			return false
		}
	}
	return true
}

func obviouslyApart(all []Span, Leniency string) Found {
	out := Found{Leniency: Leniency}
	for _, s := range all {
		switch {
		case len(out.Spans) == 0 || s.Start >= out.Spans[len(out.Spans)-1].End:
			out.Spans = append(out.Spans, s)
		case len(out.Spans) == 1:
			out.Twin = &s
		}
	}
	if len(out.Spans) > 1 {
		out.Twin = nil
	}
	if out.Spans == nil {
		out.Leniency = ""
	}
	return out
}
