package search

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
)

// finder makes a function for one text that gives the first match at or after
// from, the start of a line; it is called with from rising. start is negative
// when there is none. A match never holds a line end. It is for one goroutine.
type finder func(ctx context.Context, text string) func(from int) (start, end int)

// wanted is what a query looks for.
type wanted struct {
	finder func() finder // a new one each time
	must   []clause      // what every match holds
}

func newWanted(q Query) (*wanted, error) {
	switch {
	case q.Regex:
		return wantedRegex(q)
	case strings.ContainsAny(q.Text, "\r\n"):
		return nil, fault.Invalid("the query spans several lines, but a match is within one line; search for one of its lines")
	}
	text := literal{q.Text, !q.CaseSensitive}
	find := text.finder()
	return &wanted{finder: func() finder { return find }, must: []clause{{text}}}, nil
}

func (l literal) finder() finder {
	if l.folded {
		return findFolded(l.text)
	}
	return findExact(l.text)
}

func wantedRegex(q Query) (*wanted, error) {
	pattern, flags := q.Text, syntax.Perl
	if !q.CaseSensitive {
		pattern, flags = "(?i:"+pattern+")", flags|syntax.FoldCase
	}
	// What the agent wrote is parsed alone, so that an error is about that.
	tree, err := syntax.Parse(q.Text, flags)
	if err != nil {
		return nil, badRegex(q.Text, err)
	}
	if holdsLineEnd(tree) {
		return nil, fault.Invalid("the regular expression has a line end, but a match is within one line; search for one of the lines")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, badRegex(q.Text, err)
	}
	n := needOf(tree) // of every match
	w := &wanted{must: n.and(n.whole).must}
	near := best(w.must).finder()
	w.finder = func() finder { return findRegex(re, newDFA(tree), near) }
	return w, nil
}

// finder finds the texts of a clause; nil where all that is looked through is quicker than
// to look for them.
func (c clause) finder() finder {
	if c == nil || c.cost() > dear {
		return nil
	}
	finders := make([]finder, len(c))
	for i, l := range c {
		finders[i] = l.finder()
	}
	return findAny(finders)
}

// dear is the cost of a clause from which on it does not pay to look for it first.
const dear = 500

func holdsLineEnd(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, '\n') || slices.ContainsFunc(tree.Sub, holdsLineEnd)
}

func badRegex(pattern string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return fault.Invalid("the regular expression cannot be parsed: %w", err)
	}
	where := ""
	if at := strings.Index(pattern, bad.Expr); at >= 0 && bad.Expr != "" && bad.Expr != pattern {
		where = fmt.Sprintf(" at character %d, %s", utf8.RuneCountInString(pattern[:at])+1, fault.Quote(bad.Expr))
	}
	fix := "correct it, or leave out regex to search for plain text"
	switch bad.Code {
	case syntax.ErrInvalidPerlOp:
		fix = "RE2 has no lookaround or backreferences; search for less and read the lines"
	case syntax.ErrInvalidEscape:
		fix = "RE2 has no backreferences; write \\\\ for a backslash"
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument:
		fix = "put a backslash before a literal bracket or star, or leave out regex"
	}
	return fault.Invalid("the regular expression is wrong%s: %s; %s", where, bad.Code, fix)
}

// findRegex finds re in lines that dfa says it matches: re itself is slow. Where near is
// not nil, only lines in which that finds something can match.
func findRegex(re *regexp.Regexp, dfa *dfa, near finder) finder {
	matches := func(line string) bool { return dfa == nil || dfa.gaveUp() || dfa.matches(line) }
	return func(ctx context.Context, text string) func(int) (int, int) {
		next := func(from int) (int, int) { return from, from }
		if near != nil {
			next = near(ctx, text)
		}
		return func(from int) (int, int) {
			for n := 1; from < len(text) && (n%1024 != 0 || ctx.Err() == nil); n++ {
				at, _ := next(from)
				if at < 0 {
					break
				}
				begin := strings.LastIndexByte(text[:at], '\n') + 1
				if near == nil {
					begin = from
				}
				line, after := lineAt(text, begin)
				if matches(line) {
					if found := re.FindStringIndex(line); found != nil {
						return begin + found[0], begin + found[1]
					}
				}
				from = after
			}
			return -1, -1
		}
	}
}

// lineAt gives the line that starts at from, without its end, and where the next
// one starts.
func lineAt(text string, from int) (line string, next int) {
	end := strings.IndexByte(text[from:], '\n')
	if end < 0 {
		return text[from:], len(text)
	}
	return strings.TrimSuffix(text[from:from+end], "\r"), from + end + 1
}
