package gitignore

import "strings"

// pattern is a line with wildcards, as its elements behind some plain text. They are small,
// and sets that are alike are one, because there are files with a hundred thousand lines.
type pattern struct {
	prefix   string
	elements []element
}

type element struct {
	in   *set // of one byte: those that it matches; nil: byte alone
	kind elementKind
	byte byte
}

type elementKind byte

const (
	oneByte  elementKind = iota
	anyText              // any number of bytes, slashes too
	anyPart              // any number of bytes, without slashes
	anyDepth             // "**/": nothing, or anything that ends with a slash
)

// set is which bytes are in it.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// reader reads the patterns of a file.
type reader struct {
	text    string
	wild    int  // the place of the first wildcard
	slashes bool // "*", "?" and sets do not match a slash, and only "**" between slashes does
	sets    map[set]*set
}

// pattern reads one; it fails for one that git never matches.
func (r *reader) pattern(text string, wild int, slashes bool) (pattern, bool) {
	r.text, r.wild, r.slashes = text, wild, slashes
	p := pattern{prefix: text[:wild]}
	for at := wild; at < len(text); {
		e, next, ok := r.element(at)
		if !ok {
			return pattern{}, false
		}
		p.elements = append(p.elements, e)
		at = next
	}
	return p, true
}

// element reads what stands at a place, and says where the next one does.
func (r *reader) element(at int) (e element, next int, ok bool) {
	switch c := r.text[at]; c {
	case '*':
		kind, next := r.stars(at)
		return element{kind: kind}, next, true
	case '?':
		return element{in: r.set(func(int) bool { return true })}, at + 1, true
	case '[':
		var in [256]bool
		next, negate, ok := parseSet(r.text, at+1, &in)
		e.in = r.set(func(c int) bool { return in[c] != negate })
		return e, next, ok && *e.in != set{}
	case '\\':
		if at++; at == len(r.text) {
			return e, at, false
		}
		return element{byte: r.text[at]}, at + 1, true
	default:
		return element{byte: c}, at + 1, true
	}
}

// set is the one of the bytes that git's loop matches.
func (r *reader) set(matches func(c int) bool) *set {
	var s set
	for c := range 256 {
		if matches(c) && !(r.slashes && c == '/') {
			s[c>>6] |= 1 << (c & 63)
		}
	}
	if known := r.sets[s]; known != nil {
		return known
	}
	if r.sets == nil {
		r.sets = map[set]*set{}
	}
	r.sets[s] = &s
	return &s
}

// stars reads a run of stars. In git, the first run of a pattern counts as standing
// after a slash even when plain text comes before it.
func (r *reader) stars(start int) (elementKind, int) {
	at := start
	for at < len(r.text) && r.text[at] == '*' {
		at++
	}
	rest := r.text[at:]
	double := at-start > 1 && (start == r.wild || r.text[start-1] == '/')
	switch {
	case !r.slashes, double && (rest == "" || strings.HasPrefix(rest, `\/`)):
		return anyText, at
	case double && rest[0] == '/':
		return anyDepth, at + 1
	}
	return anyPart, at
}

// matches follows all ways to match at once, so that its time is at most the product of
// the two lengths, whatever the pattern.
func (p *pattern) matches(text string) bool {
	if !strings.HasPrefix(text, p.prefix) {
		return false
	}
	text = text[len(p.prefix):]
	var few [128]bool
	w := ways{text: text, reached: few[:]}
	if len(text) >= len(few) {
		w.reached = make([]bool, len(text)+1)
	}
	w.reached[0] = true
	for i := range p.elements {
		switch e := &p.elements[i]; e.kind {
		case oneByte:
			w.step(e)
		case anyText:
			w.all()
		case anyPart:
			w.part()
		case anyDepth:
			w.depths()
		}
		if w.lo > w.hi {
			return false
		}
	}
	return w.hi == len(text)
}

// ways are the places of a text that a part of a pattern leads to: none before lo or
// behind hi, which are such themselves unless there is none.
type ways struct {
	text    string
	reached []bool
	lo, hi  int
}

// step goes on by one byte.
func (w *ways) step(e *element) {
	lo, hi := len(w.text)+1, -1
	for i := min(w.hi, len(w.text)-1); i >= w.lo; i-- {
		c := w.text[i]
		fits := w.reached[i] && (c == e.byte && e.in == nil || e.in != nil && e.in.has(c))
		if w.reached[i+1] = fits; fits {
			lo, hi = i+1, max(hi, i+1)
		}
	}
	w.reached[w.lo] = false
	w.lo, w.hi = lo, hi
}

// all adds all places behind the first.
func (w *ways) all() {
	for i := w.lo; i <= len(w.text); i++ {
		w.reached[i] = true
	}
	w.hi = len(w.text)
}

// part adds the places up to the next slash behind each.
func (w *ways) part() {
	for i := w.lo; i < len(w.text); i++ {
		if w.reached[i] && w.text[i] != '/' {
			w.reached[i+1] = true
			w.hi = max(w.hi, i+1)
		}
	}
}

// depths adds the places behind all slashes that follow.
func (w *ways) depths() {
	for i := w.lo; i < len(w.text); i++ {
		if w.text[i] == '/' {
			w.reached[i+1] = true
			w.hi = max(w.hi, i+1)
		}
	}
}
