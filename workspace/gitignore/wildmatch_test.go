package gitignore

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Patterns match what regular expressions made of them match, which are easier to hold
// against wildmatch.c. (That both are right is for the tests with the real git.)
func TestPatternsMatchAsRegularExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "/", "*", "**", "?", "[ab]", "[!a]", "[a-b/]", "\\*", "\\/", "**/", "/**", "[[:alpha:]]", "[", "\\"}
	bytes := []string{"a", "b", "/", "ab", "*", "[", "\\", "\xff", "-"}
	matched := 0
	for range 20_000 {
		var line strings.Builder
		for range 1 + random.IntN(7) {
			line.WriteString(parts[random.IntN(len(parts))])
		}
		text := line.String()
		wild := strings.IndexAny(text, `*?[\`)
		if wild < 0 {
			continue
		}
		slashes := random.IntN(2) == 0
		p, ok := new(reader).pattern(text, wild, slashes)
		re, fine := wildmatch(text, wild, slashes)
		if ok != fine {
			t.Fatalf("%q can match: %v, not %v", text, ok, fine)
		}
		for range 20 {
			var name strings.Builder
			for range random.IntN(6) {
				name.WriteString(bytes[random.IntN(len(bytes))])
			}
			if !ok {
				break
			}
			got, want := p.matches(name.String()), strings.HasPrefix(name.String(), text[:wild]) && re.MatchString(bytewise(name.String()))
			if got != want {
				t.Fatalf("%q with %q (slashes: %v): %v", text, name.String(), slashes, got)
			}
			if got {
				matched++
			}
		}
	}
	if matched < 1000 {
		t.Errorf("no more than %d matched", matched)
	}
}

// A long text, and patterns that would take for ever if each way were tried alone.
func TestPatternsEndSoon(t *testing.T) {
	text := strings.Repeat("a/", 2000) + "a"
	for _, line := range []string{strings.Repeat("*a", 2000) + "b", strings.Repeat("**/a/", 800) + "b", strings.Repeat("[!b]", 1000) + "b"} {
		rules := Parse(line)
		if len(rules) != 1 || rules[0].Matches(text, false) || rules[0].Matches(strings.Repeat("a", 4000), false) {
			t.Errorf("%.20q matches, or is none", line)
		}
	}
}

// A file of lines that are all different, with sets, costs little more than its text.
func TestManyLinesCostLittle(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "x%d%s\n", i, strings.Repeat("[!a]", 50))
	}
	before := allocated()
	rules := len(Parse(text.String()))
	cost := allocated() - before
	if rules != 20_000 || cost > 100<<20 {
		t.Errorf("%d rules cost %d bytes", rules, cost)
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// bytewise gives each byte a character of its own, so that a regular expression
// sees bytes as git does, and names that are not UTF-8 stay apart.
func bytewise(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			runes := make([]rune, len(s))
			for j := range len(s) {
				runes[j] = rune(s[j])
			}
			return string(runes)
		}
	}
	return s
}

// wildmatch translates a pattern with wildcards, the first of them at byte wild.
// With slashes, "*", "?" and sets do not match a slash, and only "**" between
// slashes does. It fails for a pattern that git never matches.
func wildmatch(pattern string, wild int, slashes bool) (*regexp.Regexp, bool) {
	t := translator{pattern: pattern, wild: wild, slashes: slashes}
	t.out.WriteString(`(?s)\A`)
	for t.at < len(pattern) {
		if !t.next() {
			return nil, false
		}
	}
	t.out.WriteString(`\z`)
	re, err := regexp.Compile(t.out.String())
	return re, err == nil
}

type translator struct {
	pattern string
	wild    int
	slashes bool
	at      int
	out     strings.Builder
}

// next translates one element of the pattern.
func (t *translator) next() bool {
	c := t.pattern[t.at]
	switch c {
	case '*':
		t.stars()
		return true
	case '?':
		t.out.WriteString(t.anyByte())
	case '[':
		return t.set()
	case '\\':
		if t.at++; t.at == len(t.pattern) {
			return false
		}
		t.literal(t.pattern[t.at])
	default:
		t.literal(c)
	}
	t.at++
	return true
}

func (t *translator) literal(c byte) { fmt.Fprintf(&t.out, `\x{%x}`, c) }

func (t *translator) anyByte() string {
	if t.slashes {
		return `[^/]`
	}
	return `.`
}

// stars translates a run of stars. In git, the first run of a pattern counts as
// standing after a slash even when plain text comes before it.
func (t *translator) stars() {
	start := t.at
	for t.at < len(t.pattern) && t.pattern[t.at] == '*' {
		t.at++
	}
	rest := t.pattern[t.at:]
	double := t.at-start > 1 && (start == t.wild || t.pattern[start-1] == '/')
	switch {
	case !t.slashes, double && (rest == "" || strings.HasPrefix(rest, `\/`)):
		t.out.WriteString(`.*`)
	case double && rest[0] == '/':
		t.out.WriteString(`(?:.*/)?`)
		t.at++
	default:
		t.out.WriteString(`[^/]*`)
	}
}

// set translates "[…]" by asking for each byte whether git's loop matches it.
func (t *translator) set() bool {
	var in [256]bool
	end, negate, ok := parseSet(t.pattern, t.at+1, &in)
	if !ok {
		return false
	}
	t.at = end
	t.out.WriteByte('[')
	empty := true
	for c := range 256 {
		if in[c] != negate && !(t.slashes && c == '/') {
			fmt.Fprintf(&t.out, `\x{%x}`, c)
			empty = false
		}
	}
	t.out.WriteByte(']')
	return !empty
}
