package search

import (
	"context"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
)

// places are all the places that a finder gives, one a line, as a search asks for them.
func places(find finder, text string) (out [][2]int) {
	next := find(context.Background(), text)
	for from := 0; from < len(text); {
		start, end := next(from)
		if start < 0 {
			break
		}
		out = append(out, [2]int{start, end})
		_, from = lineAt(text, strings.LastIndexByte(text[:start], '\n')+1)
	}
	return out
}

// expected are the places by package regexp, a line at a time.
func expected(re *regexp.Regexp, text string) (out [][2]int) {
	for from := 0; from < len(text); {
		line, next := lineAt(text, from)
		if found := re.FindStringIndex(line); found != nil {
			out = append(out, [2]int{from + found[0], from + found[1]})
		}
		from = next
	}
	return out
}

// checkQuery holds what is found to what package regexp finds. It is false for a query
// that is refused.
func checkQuery(t *testing.T, q Query, text string) bool {
	t.Helper()
	w, err := newWanted(q)
	if err != nil {
		return false
	}
	pattern := q.Text
	if !q.Regex {
		pattern = regexp.QuoteMeta(pattern)
	}
	if !q.CaseSensitive {
		pattern = "(?i:" + pattern + ")"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	want, find := expected(re, text), w.finder()
	for range 2 { // with the states of before, too
		got := places(find, text)
		if len(got) != len(want) {
			t.Fatalf("%+v in %q: %v, not %v", q, text, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%+v in %q: %v, not %v", q, text, got, want)
			}
		}
	}
	for _, place := range want {
		checkRequired(t, q, w.must, text[place[0]:place[1]])
	}
	if q.Regex {
		checkDFA(t, re, pattern, text)
	}
	return true
}

// checkRequired holds what every match is said to hold to a match.
func checkRequired(t *testing.T, q Query, must []clause, match string) {
	t.Helper()
	for _, c := range must {
		found := false
		for _, l := range c {
			start, _ := l.finder()(context.Background(), match)(0)
			found = found || start >= 0
		}
		if !found {
			t.Fatalf("%+v: %q is a match, and has nothing of %v", q, match, c)
		}
	}
}

// checkDFA tries the automaton alone, also on lines where no search would.
func checkDFA(t *testing.T, re *regexp.Regexp, pattern, text string) {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	machine.Must(t, err)
	d := newDFA(tree)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if d != nil && d.matches(line) != re.MatchString(line) {
			t.Fatalf("%s on %q: the automaton says %t", pattern, line, d.matches(line))
		}
	}
}

// Pieces of which queries and texts are made that have something to do with each other.
var (
	queryPieces = []string{
		"a", "b", "k", "K", "s", "ſ", "é", "É", "ß", "ab", "foo", "bar", "_", "x1", "日", "本語", " ", ".", "(", ")", "\\", "-", "return", "mutex_lock",
	}
	regexPieces = []string{
		"a", "b", "k", "s", "é", "ſ", "K", "日", "foo", "bar", "x", "_", ".", ".*", "a*", "b+", "c?", "[a-c]", "[^a]", "[k-s]", "[[:alpha:]]", "\\w", "\\W", "\\d+", "\\s", "\\b", "\\B",
		"^", "$", "(?:", "(", ")", "|", "a{2}", "b{1,3}", "(?i)", "(?i:k)", "\\pL", "[é-ü]", "\\.", "\\x{212A}", "(?s:.)", "(?m)^", "(?m)$", "foo|bar|baz|qux", "(ab|cd)ef", "\\z", "\\A", "[Kk]",
	}
	textPieces = []string{
		"a", "b", "c", "k", "K", "s", "S", "ſ", "K", "é", "É", "ß", "ẞ", "ab", "foo", "FOO", "Bar", "bar", "baz", "qux", "x1", "X1", "_", "日", "本語", " ", ".", "(", "\\", "\n", "\n", "\r\n", "\r", "\t", "0",
		"return", "Return", "mutex_lock", "cdef", "abef", "aa", "bbb",
	}
)

func made(r *rand.Rand, pieces []string, most int) string {
	var out strings.Builder
	for range 1 + r.IntN(most) {
		out.WriteString(pieces[r.IntN(len(pieces))])
	}
	return out.String()
}

// TestQueriesAgainstRegexp tries made queries on made texts.
func TestQueriesAgainstRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	tried, most := 0, machine.Cases(6000, 120_000)
	for range most {
		q := Query{Regex: r.IntN(3) > 0, CaseSensitive: r.IntN(2) == 0}
		if q.Text = made(r, queryPieces, 4); q.Regex {
			q.Text = made(r, regexPieces, 6)
		}
		if checkQuery(t, q, made(r, textPieces, 40)) {
			tried++
		}
	}
	if tried < most/2 {
		t.Errorf("only %d of the queries were tried", tried)
	}
}

// FuzzFind lets the fuzzer make the queries and texts.
func FuzzFind(f *testing.F) {
	f.Add("foo|ba[rz]", "xfoo\r\nBAZ\nK", true, false)
	f.Add("k", "\u212a\nſ", false, false)
	f.Add(`\bfoo\b`, "foo_\nfoo.\n", true, true)
	f.Fuzz(func(t *testing.T, query, text string, isRegex, caseSensitive bool) {
		if query == "" || len(query) > 100 || len(text) > 10_000 {
			t.Skip("it is refused, or takes too long")
		}
		checkQuery(t, Query{Text: query, Regex: isRegex, CaseSensitive: caseSensitive}, strings.ToValidUTF8(text, "?"))
	})
}

// TestManyStates: an expression whose states do not fit is still right.
func TestManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same each time
	text := strings.Builder{}
	for range 2000 {
		text.WriteString(made(r, []string{"a", "b"}, 60) + []string{"c\n", "\n"}[r.IntN(2)])
	}
	w, err := newWanted(Query{Text: "(a|b)*a(a|b){14}c", Regex: true, CaseSensitive: true})
	machine.Must(t, err)
	if got, want := places(w.finder(), text.String()), expected(regexp.MustCompile("(a|b)*a(a|b){14}c"), text.String()); len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d lines, not %d", len(got), len(want))
	}
}
