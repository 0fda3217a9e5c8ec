package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// dfa says which lines an expression matches, reading each character once. Its states are
// made when they are first come to, from the sets of places in the compiled expression
// that a match may be at. It is for one goroutine. Where in a line the match is, it does
// not know.
type dfa struct {
	prog    *syntax.Prog
	looks   bool   // the expression looks at what is around: ^, $, \b
	bounds  []rune // where a class of characters begins that no part of prog tells apart
	ascii   [utf8.RuneSelf]uint8
	start   *state
	states  map[string]*state
	emptied int // how often there were too many of them

	// For making a state.
	stack []uint32
	seen  []uint32 // by place: the round in which it was come to
	round uint32
}

// state is where all matches that have begun may be.
type state struct {
	next  []*state // by class; nil: not known yet, or a match
	at    []uint32 // places in prog, in order
	prev  rune     // what stands before, as far as it matters: -1, a word's or none of one
	match bool     // one has ended
	end   lineEnd  // whether one ends with the line
}

type lineEnd uint8

const (
	endUnknown lineEnd = iota
	endNone
	endMatch
)

const (
	// mostStates bounds the memory of a dfa, together with mostClasses and the places of
	// an expression, which the parser bounds.
	mostStates  = 4000
	mostClasses = 255
	// mostEmptied is how often the states may be thrown away in one text. An expression
	// that has so many is left to package regexp.
	mostEmptied = 3
)

// newDFA is nil for an expression that it is not made for.
func newDFA(tree *syntax.Regexp) *dfa {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	d := &dfa{prog: prog, seen: make([]uint32, len(prog.Inst))}
	if !d.classify() {
		return nil
	}
	d.empty()
	return d
}

// classify finds the classes of characters; false: there are too many.
func (d *dfa) classify() bool {
	d.bounds = []rune{0}
	add := func(low, high rune) { d.bounds = append(d.bounds, low, high+1) }
	for i := range d.prog.Inst {
		switch in := &d.prog.Inst[i]; in.Op {
		case syntax.InstEmptyWidth:
			d.looks = true
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) == 1 {
				add(in.Rune[0], in.Rune[0])
				for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
					add(r, r)
				}
				continue
			}
			for j := 0; j+1 < len(in.Rune); j += 2 {
				add(in.Rune[j], in.Rune[j+1])
			}
		}
	}
	if d.looks {
		for _, word := range []string{"09", "AZ", "__", "az"} {
			add(rune(word[0]), rune(word[1]))
		}
	}
	slices.Sort(d.bounds)
	d.bounds = slices.Compact(d.bounds)
	if len(d.bounds) > mostClasses {
		return false
	}
	for r := range rune(utf8.RuneSelf) {
		d.ascii[r] = uint8(d.classOf(r)) //nolint:gosec // at most mostClasses
	}
	return true
}

func (d *dfa) classOf(r rune) int {
	i, found := slices.BinarySearch(d.bounds, r)
	if found {
		return i
	}
	return i - 1
}

// empty throws all states away.
func (d *dfa) empty() {
	d.states = map[string]*state{}
	d.start = d.state([]uint32{uint32(d.prog.Start)}, -1, false) //nolint:gosec // a place
}

func (d *dfa) state(at []uint32, prev rune, match bool) *state {
	if !d.looks {
		prev = -1
	}
	key := make([]byte, 0, 4*len(at)+5)
	for _, place := range at {
		key = binary.LittleEndian.AppendUint32(key, place)
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(prev)) //nolint:gosec // to tell them apart
	if match {
		key = append(key, 1)
	}
	s := d.states[string(key)]
	if s == nil {
		s = &state{next: make([]*state, len(d.bounds)), at: slices.Clone(at), prev: prev, match: match}
		d.states[string(key)] = s
	}
	return s
}

// follow comes to every place that can be come to from at without a character, between
// prev and next, and says whether a match ends here. Places that take a character go to
// take.
func (d *dfa) follow(at uint32, given syntax.EmptyOp, take func(in *syntax.Inst)) (match bool) {
	d.stack = append(d.stack[:0], at)
	for len(d.stack) > 0 {
		place := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[place] == d.round {
			continue
		}
		d.seen[place] = d.round
		switch in := &d.prog.Inst[place]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^given == 0 {
				d.stack = append(d.stack, in.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstFail:
		default:
			take(in)
		}
	}
	return match
}

// step makes the state after a character of a class.
func (d *dfa) step(s *state, class int) *state {
	r := d.bounds[class]
	given := syntax.EmptyOpContext(s.prev, r)
	match := false
	next := []uint32{uint32(d.prog.Start)} //nolint:gosec // a place
	d.round++
	for _, at := range s.at {
		match = d.follow(at, given, func(in *syntax.Inst) {
			if in.MatchRune(r) {
				next = append(next, in.Out)
			}
		}) || match
	}
	// Where nothing has to be looked at behind it, a match has ended already.
	d.round++
	for _, at := range next[1:] {
		match = d.follow(at, 0, func(*syntax.Inst) {}) || match
	}
	slices.Sort(next)
	prev := rune(' ')
	if syntax.IsWordChar(r) {
		prev = 'a'
	}
	if len(d.states) >= mostStates {
		d.emptied++
		d.empty()
	}
	return d.state(slices.Compact(next), prev, match)
}

// ends says whether a match ends if the line ends in state s.
func (d *dfa) ends(s *state) bool {
	if s.end == endUnknown {
		given := syntax.EmptyOpContext(s.prev, -1)
		d.round++
		s.end = endNone
		for _, at := range s.at {
			if d.follow(at, given, func(*syntax.Inst) {}) {
				s.end = endMatch
			}
		}
	}
	return s.end == endMatch
}

// gaveUp says that the expression is not one for it.
func (d *dfa) gaveUp() bool { return d.emptied > mostEmptied }

// matches says whether the expression matches in a line.
func (d *dfa) matches(line string) bool {
	s := d.start
	for i := 0; i < len(line); {
		class, size := 0, 1
		if b := line[i]; b < utf8.RuneSelf {
			class = int(d.ascii[b])
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(line[i:])
			class = d.classOf(r)
		}
		i += size
		next := s.next[class]
		if next == nil {
			next = d.step(s, class)
			s.next[class] = next
		}
		if s = next; s.match {
			return true
		}
	}
	return d.ends(s)
}
