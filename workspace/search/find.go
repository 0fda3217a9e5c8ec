package search

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
)

// finder makes a function for one text that gives the first match at or after
// from, the start of a line; it is called with from rising. start is negative
// when there is none. A match never holds a line end.
type finder func(ctx context.Context, text string) func(from int) (start, end int)

func newFinder(q Query) (finder, error) {
	switch {
	case q.Regex:
		return newRegexFinder(q)
	case strings.ContainsAny(q.Text, "\r\n"):
		return nil, fault.New(fault.InvalidArguments, "the query spans several lines, but a match is within one line; search for one of its lines")
	case q.CaseSensitive:
		return findExact(q.Text), nil
	}
	return findFolded(q.Text), nil
}

func newRegexFinder(q Query) (finder, error) {
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
		return nil, fault.New(fault.InvalidArguments, "the regular expression has a line end, but a match is within one line; search for one of the lines")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, badRegex(q.Text, err)
	}
	switch word, folded := requiredText(tree); {
	case word == "":
		return findRegex(re), nil
	case folded:
		return findRegexNear(re, findFolded(word)), nil
	default:
		return findRegexNear(re, findExact(word)), nil
	}
}

// requiredText is the longest text that every match holds, as far as that is easy
// to see, and whether its letters' case may differ.
func requiredText(tree *syntax.Regexp) (text string, folded bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		return string(tree.Rune), tree.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus:
		return requiredText(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return requiredText(tree.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			if t, f := requiredText(sub); len(t) > len(text) {
				text, folded = t, f
			}
		}
	}
	return text, folded
}

func holdsLineEnd(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, '\n') || slices.ContainsFunc(tree.Sub, holdsLineEnd)
}

func badRegex(pattern string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return fault.New(fault.InvalidArguments, "the regular expression cannot be parsed: %w", err)
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
	return fault.New(fault.InvalidArguments, "the regular expression is wrong%s: %s; %s", where, bad.Code, fix)
}

func findRegex(re *regexp.Regexp) finder {
	return func(ctx context.Context, text string) func(int) (int, int) {
		return func(from int) (int, int) {
			for n := 1; from < len(text); n++ {
				if n%1024 == 0 && ctx.Err() != nil {
					break
				}
				line, next := lineAt(text, from)
				if found := re.FindStringIndex(line); found != nil {
					return from + found[0], from + found[1]
				}
				from = next
			}
			return -1, -1
		}
	}
}

// findRegexNear tries the expression only on lines where required, a part of
// every match, is found.
func findRegexNear(re *regexp.Regexp, required finder) finder {
	return func(ctx context.Context, text string) func(int) (int, int) {
		next := required(ctx, text)
		return func(from int) (int, int) {
			for n := 1; from < len(text) && (n%1024 != 0 || ctx.Err() == nil); n++ {
				at, _ := next(from)
				if at < 0 {
					break
				}
				begin := strings.LastIndexByte(text[:at], '\n') + 1
				line, after := lineAt(text, begin)
				if found := re.FindStringIndex(line); found != nil {
					return begin + found[0], begin + found[1]
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

func findExact(want string) finder {
	return func(_ context.Context, text string) func(int) (int, int) {
		return func(from int) (int, int) {
			if i := strings.Index(text[from:], want); i >= 0 {
				return from + i, from + i + len(want)
			}
			return -1, -1
		}
	}
}

// findFolded finds want whatever the letters' case, by looking for each form of
// its first letter with the fast search for exact text.
func findFolded(want string) finder {
	first, size := utf8.DecodeRuneInString(want)
	forms := []string{want[:size]}
	for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
		forms = append(forms, string(r))
	}
	return func(ctx context.Context, text string) func(int) (int, int) {
		ahead := make([]int, len(forms)) // where each form comes next
		for i := range ahead {
			ahead[i] = -1
		}
		return func(from int) (int, int) {
			for n := 1; n%(1<<16) != 0 || ctx.Err() == nil; n++ {
				for i, form := range forms {
					if ahead[i] < from {
						ahead[i] = indexFrom(text, form, from)
					}
				}
				at := slices.Min(ahead)
				if at == len(text) {
					break
				}
				if size, ok := hasFoldedPrefix(text[at:], want); ok {
					return at, at + size
				}
				from = at + 1
			}
			return -1, -1
		}
	}
}

// indexFrom is len(text) when there is no more want.
func indexFrom(text, want string, from int) int {
	if i := strings.Index(text[from:], want); i >= 0 {
		return from + i
	}
	return len(text)
}

// hasFoldedPrefix gives the length of the form of want that text starts with.
func hasFoldedPrefix(text, want string) (int, bool) {
	at := 0
	for _, w := range want {
		r, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 || !sameFolded(r, w) {
			return 0, false
		}
		at += size
	}
	return at, true
}

func sameFolded(a, b rune) bool {
	if a == b {
		return true
	}
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return a|0x20 == b|0x20 && 'a' <= a|0x20 && a|0x20 <= 'z'
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}
