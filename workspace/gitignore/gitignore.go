// Package gitignore reads the lines of ignore files and matches names with them, as
// git does. Parse is where to begin. Which file counts where, and before which other,
// is not here: workspace and workspace/git each have their own order.
package gitignore

import (
	"strings"
)

// Rule is one line of an ignore file. It is read and matched as git does
// (dir.c and wildmatch.c), byte by byte: the oracle in the tests is git itself.
type Rule struct {
	Negate   bool // "!": what an earlier line ignored is shown again
	BaseOnly bool // no "/" but at the end: judged on the last element alone
	dirOnly  bool // "/" at the end

	// Most lines need no pattern.
	literal string
	suffix  string // "*suffix"
	pattern pattern
}

// maxIgnoreLine bounds the work that one line can cause.
const maxIgnoreLine = 4096

// Parse reads an ignore file. What cannot match anything is left out.
func Parse(text string) []Rule {
	var rules []Rule
	var reader reader
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.HasPrefix(line, "#") || len(line) > maxIgnoreLine {
			continue
		}
		if r, ok := reader.line(trimTrailingSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimTrailingSpaces keeps a space that a backslash protects.
func trimTrailingSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}

func (reader *reader) line(pattern string) (r Rule, ok bool) {
	pattern, r.Negate = strings.CutPrefix(pattern, "!")
	pattern, r.dirOnly = strings.CutSuffix(pattern, "/")
	r.BaseOnly = !strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if pattern == "" {
		return r, false
	}
	wild := strings.IndexAny(pattern, `*?[\`)
	switch {
	case wild < 0:
		r.literal = pattern
	case wild == 0 && r.BaseOnly && pattern[0] == '*' && !strings.ContainsAny(pattern[1:], `*?[\`):
		r.suffix = pattern[1:]
		ok = true
	default:
		r.pattern, ok = reader.pattern(pattern, wild, !r.BaseOnly)
	}
	return r, ok || r.literal != ""
}

// Matches judges an entry by its path below the ignore file's folder, or, with
// BaseOnly, by its name.
func (r *Rule) Matches(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	switch {
	case r.pattern.elements != nil:
		return r.pattern.matches(rel)
	case r.literal != "":
		return rel == r.literal
	}
	return strings.HasSuffix(rel, r.suffix)
}

// parseSet reads a set from behind its bracket and gives the place after it.
func parseSet(p string, at int, in *[256]bool) (end int, negate, ok bool) {
	if at < len(p) && (p[at] == '!' || p[at] == '^') {
		negate = true
		at++
	}
	prev := 0 // the start of a range, if the next byte is a dash; 0 is none
	for first := true; ; first = false {
		if at >= len(p) {
			return 0, false, false
		}
		c := p[at]
		switch {
		case c == ']' && !first:
			return at + 1, negate, true
		case c == '\\':
			if at++; at >= len(p) {
				return 0, false, false
			}
			prev = int(p[at])
			in[p[at]] = true
		case c == '-' && prev != 0 && at+1 < len(p) && p[at+1] != ']':
			if at++; p[at] == '\\' {
				at++
			}
			if at >= len(p) {
				return 0, false, false
			}
			for b := prev; b <= int(p[at]); b++ {
				in[b] = true
			}
			prev = 0
		case c == '[' && at+1 < len(p) && p[at+1] == ':':
			next, isClass, ok := parseClass(p, at+2, in)
			if !ok {
				return 0, false, false
			}
			if at = next; !isClass {
				in['['] = true
			}
			prev = 0
			if !isClass {
				prev = '['
			}
		default:
			prev = int(c)
			in[c] = true
		}
		at++
	}
}

// parseClass reads "[:alpha:]" from behind its colon and gives the place of its
// last byte. Without ":]" before the next bracket, "[" was a plain one.
func parseClass(p string, at int, in *[256]bool) (end int, isClass, ok bool) {
	n := strings.IndexByte(p[at:], ']')
	if n < 0 {
		return 0, false, false
	}
	name, found := strings.CutSuffix(p[at:at+n], ":")
	if !found {
		return at - 2, false, true
	}
	class, ok := posixClasses[name]
	if !ok {
		return 0, false, false
	}
	for c := range 128 {
		in[c] = in[c] || class(byte(c))
	}
	return at + n, true, true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
func isGraph(c byte) bool { return ' ' < c && c < 0x7f }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

var posixClasses = map[string]func(byte) bool{
	"alnum":  isAlnum,
	"alpha":  isAlpha,
	"blank":  isBlank,
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(c byte) bool { return isGraph(c) || c == ' ' },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlnum(c) },
	"space":  func(c byte) bool { return isBlank(c) || '\n' <= c && c <= '\r' },
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}
