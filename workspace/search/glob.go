package search

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/workspace"
)

const longestGlob = 1000 // bytes

// CompileGlob makes a predicate over slash separated paths out of a glob:
//
//   - any characters but a slash
//     ?        one character but a slash
//     **       between slashes, any folders or none; at the end, all below
//     [a-z]    one of these characters; [!a-z] and [^a-z] one that is not; or what stands there
//     as it is, since folders are called so: app/[id]/page.tsx
//     {a,b}    one of these globs, or what stands there as it is
//     \x       the character x itself
//
// As in ripgrep's -g, a glob without a slash is about the name at any depth, one
// with a slash about the path from the folder's top, a slash at the end means all
// below that folder, and a leading "!" leaves out what the glob matches, with
// all below it. Letter case counts. A glob also matches the path that it is itself, character by
// character. Time is linear in the path's length.
func CompileGlob(pattern string) (func(rel string) bool, error) {
	g, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	return func(rel string) bool { return g.matches(rel) != g.negate }, nil
}

type glob struct {
	negate bool
	re     *regexp.Regexp
	suffix string // all that it matches ends so
	only   bool   // and all that ends so, in one element of the path, it matches
}

// matches asks the regular expression last: there may be very many names.
func (g *glob) matches(rel string) bool {
	switch {
	case !strings.HasSuffix(rel, g.suffix):
		return false
	case g.only:
		return true
	}
	return g.re.MatchString(rel)
}

// selects judges p by each name that an agent may mean: the path from the folder
// that is searched, from the workspace folder, and as tools print it.
func (g *glob) selects(searched, p workspace.Path) bool {
	names := []string{p.Rel(), strings.TrimPrefix(p.Rel(), searched.Rel()+"/"), p.String()}
	for _, name := range names {
		if g.matches(name) {
			return !g.negate
		}
	}
	return g.negate
}

func compile(pattern string) (*glob, error) {
	if len(pattern) > longestGlob {
		return nil, fault.Invalid("the glob is longer than %d bytes; give a shorter one", longestGlob)
	}
	rest, negate := strings.CutPrefix(pattern, "!")
	path := strings.TrimPrefix(strings.TrimPrefix(rest, "."), "/")
	if !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "./") {
		path = rest
	}
	name, isFolder := strings.CutSuffix(path, "/")
	if name == "" {
		return nil, fault.Invalid("the glob %s matches nothing; give one like *.go or src/**/*.ts", fault.Quote(pattern))
	}
	t := translator{whole: pattern, from: len(pattern) - len(path), pattern: name}
	if err := t.translate(); err != nil {
		return nil, err
	}
	body := `(?:` + t.out.String() + `|` + regexp.QuoteMeta(name) + `)`
	if path == rest && !strings.Contains(name, "/") {
		body = `(?:.*/)?` + body
	}
	switch {
	case negate:
		body += `(?:/.*)?`
	case isFolder:
		body += `/.*`
	}
	re, err := regexp.Compile(`(?s)\A` + body + `\z`)
	if err != nil {
		return nil, fault.Invalid("the glob %s is too complex: %w", fault.Quote(pattern), err)
	}
	g := &glob{negate: negate, re: re}
	if !negate && !isFolder {
		g.suffix, g.only = ending(name, path == rest)
	}
	return g, nil
}

// ending is the plain text at the end of a glob, which is all of it but a star for
// the rest of the name.
func ending(name string, anywhere bool) (suffix string, only bool) {
	if strings.ContainsAny(name, `{}[]\\`) {
		return "", false
	}
	last := strings.LastIndexAny(name, "*?")
	suffix = name[last+1:]
	if strings.HasSuffix(name[:last+1], "**") {
		suffix = strings.TrimPrefix(suffix, "/") // the stars may stand for nothing
	}
	before := strings.TrimPrefix(name[:max(last, 0)], "**/")
	return suffix, last >= 0 && name[last] == '*' && before == "" && !strings.Contains(suffix, "/") &&
		(anywhere && !strings.Contains(name, "/") || strings.HasPrefix(name, "**/"))
}

// translator turns a glob into a regular expression, character by character.
type translator struct {
	whole   string // as the agent wrote it
	from    int    // where pattern starts in it
	pattern string
	at      int
	braces  []int // where the open ones are
	out     strings.Builder
}

func (t *translator) translate() error {
	for t.at < len(t.pattern) {
		if err := t.next(); err != nil {
			return err
		}
	}
	if len(t.braces) > 0 {
		return t.wrong(t.braces[len(t.braces)-1], `"{" is not closed; add "}", or write \{ for the character itself`)
	}
	return nil
}

func (t *translator) next() error {
	c, size := utf8.DecodeRuneInString(t.pattern[t.at:])
	t.at += size
	switch {
	case c == '*':
		t.stars()
	case c == '?':
		t.out.WriteString(`[^/]`)
	case c == '[':
		return t.set()
	case c == '{':
		t.braces = append(t.braces, t.at-1)
		t.out.WriteString(`(?:`)
	case c == ',' && len(t.braces) > 0:
		t.out.WriteString(`|`)
	case c == '}' && len(t.braces) > 0:
		open := t.braces[len(t.braces)-1]
		t.braces = t.braces[:len(t.braces)-1]
		t.out.WriteString(`|` + regexp.QuoteMeta(t.pattern[open:t.at]) + `)`)
	case c == '}':
		return t.wrong(t.at-1, `"}" closes nothing; write \} for the character itself`)
	case c == '\\' && t.at == len(t.pattern):
		return t.wrong(t.at-1, `nothing comes after the backslash; write \\ for the character itself`)
	case c == '\\':
		c, size = utf8.DecodeRuneInString(t.pattern[t.at:])
		t.at += size
		t.literal(c)
	default:
		t.literal(c)
	}
	return nil
}

func (t *translator) literal(c rune) { t.out.WriteString(regexp.QuoteMeta(string(c))) }

// stars translates a run of stars whose first is behind.
func (t *translator) stars() {
	start := t.at - 1
	t.at += len(t.pattern[t.at:]) - len(strings.TrimLeft(t.pattern[t.at:], "*"))
	isEdge := func(c byte) bool { return c == '/' || len(t.braces) > 0 && strings.IndexByte("{,}", c) >= 0 }
	double := t.at-start > 1 && (start == 0 || isEdge(t.pattern[start-1]))
	switch {
	case double && t.at < len(t.pattern) && t.pattern[t.at] == '/':
		t.at++
		t.out.WriteString(`(?:.*/)?`)
	case double && (t.at == len(t.pattern) || isEdge(t.pattern[t.at])):
		t.out.WriteString(`.*`)
	default:
		t.out.WriteString(`[^/]*`)
	}
}

// set translates "[…]", whose bracket is behind. It never matches a slash.
func (t *translator) set() error {
	open := t.at - 1
	var body strings.Builder
	negate := t.take('!') || t.take('^')
	for first := true; first || !t.take(']'); first = false {
		low, err := t.setRune(open)
		if err != nil {
			return err
		}
		high := low
		if dash := t.at; t.take('-') {
			if t.at < len(t.pattern) && t.pattern[t.at] == ']' {
				t.at = dash // a dash at the end is one of the characters
			} else if high, err = t.setRune(open); err != nil {
				return err
			}
		}
		if high < low {
			return t.wrong(open, fmt.Sprintf("the range %c-%c goes backwards; write %c-%c", low, high, high, low))
		}
		for _, part := range [][2]rune{{low, min(high, '/'-1)}, {max(low, '/'+1), high}} {
			if part[0] <= part[1] {
				fmt.Fprintf(&body, `\x{%x}-\x{%x}`, part[0], part[1])
			}
		}
	}
	set := `[` + body.String() + `]`
	switch {
	case negate:
		set = `[^/` + body.String() + `]`
	case body.Len() == 0: // only a slash was named
		set = `[^\x{0}-\x{10ffff}]`
	}
	if text := t.pattern[open:t.at]; !strings.Contains(text, "/") {
		set = `(?:` + set + `|` + regexp.QuoteMeta(text) + `)`
	}
	t.out.WriteString(set)
	return nil
}

func (t *translator) take(c byte) bool {
	if t.at < len(t.pattern) && t.pattern[t.at] == c {
		t.at++
		return true
	}
	return false
}

// setRune reads one character of the set that was opened at open.
func (t *translator) setRune(open int) (rune, error) {
	t.take('\\')
	if t.at == len(t.pattern) {
		return 0, t.wrong(open, `"[" is not closed; add "]", or write \[ for the character itself`)
	}
	c, size := utf8.DecodeRuneInString(t.pattern[t.at:])
	t.at += size
	return c, nil
}

func (t *translator) wrong(at int, why string) error {
	character := utf8.RuneCountInString(t.whole[:t.from+at]) + 1
	return fault.Invalid("the glob %s is wrong at character %d: %s", fault.Quote(t.whole), character, why)
}
