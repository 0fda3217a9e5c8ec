package search

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// literal is text that a match holds, as it is or whatever its letters' case.
type literal struct {
	text   string
	folded bool
}

// clause says that every match holds one of these. None is a clause that says nothing.
type clause []literal

const (
	mostLiterals = 16  // in a clause
	mostSpelled  = 256 // bytes of a literal; what is longer is cut, and still required
)

// need is what is known of the texts that a part of an expression matches: what is easy to see,
// no more.
type need struct {
	whole clause   // all of them, each spelled out; nil: they are too many
	must  []clause // what they hold
}

func anything() need { return need{} }

func exactly(texts ...literal) need { return need{whole: texts} }

// and adds a clause, if it says something.
func (n need) and(c clause) need {
	if len(c) > 0 && !slices.ContainsFunc(c, func(l literal) bool { return l.text == "" }) {
		n.must = append(slices.Clip(n.must), c)
	}
	return n
}

func needOf(tree *syntax.Regexp) need {
	switch tree.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly(literal{})
	case syntax.OpLiteral:
		return exactly(literal{string(tree.Rune), tree.Flags&syntax.FoldCase != 0})
	case syntax.OpCharClass:
		return needOfClass(tree.Rune)
	case syntax.OpCapture:
		return needOf(tree.Sub[0])
	case syntax.OpQuest:
		if n := needOf(tree.Sub[0]); n.whole != nil && len(n.whole) < mostLiterals {
			return exactly(append(slices.Clip(n.whole), literal{})...)
		}
	case syntax.OpPlus:
		n := needOf(tree.Sub[0])
		return need{must: n.and(n.whole).must}
	case syntax.OpRepeat:
		return needOfRepeat(tree)
	case syntax.OpConcat:
		return needOfConcat(tree.Sub)
	case syntax.OpAlternate:
		return needOfAlternate(tree.Sub)
	}
	return anything()
}

func needOfClass(ranges []rune) need {
	var all clause
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == mostLiterals || r > utf8.MaxRune {
				return anything()
			}
			all = append(all, literal{text: string(r)})
		}
	}
	return need{whole: all}
}

func needOfRepeat(tree *syntax.Regexp) need {
	n := needOf(tree.Sub[0])
	switch {
	case tree.Min == 0:
		return anything()
	case tree.Min == tree.Max && tree.Min <= 8:
		return needOfConcat(slices.Repeat(tree.Sub[:1], tree.Min))
	}
	return need{must: n.and(n.whole).must}
}

// needOfConcat spells out what follows one upon the other for as long as it can.
func needOfConcat(subs []*syntax.Regexp) need {
	all := exactly(literal{})
	whole := true
	for _, sub := range subs {
		n := needOf(sub)
		all.must = append(all.must, n.must...)
		if joined := product(all.whole, n.whole); joined != nil {
			all.whole = joined
			continue
		}
		all = all.and(all.whole)
		whole = false
		if all.whole = n.whole; n.whole == nil {
			all.whole = clause{{}}
		}
	}
	if whole {
		return all
	}
	return need{must: all.and(all.whole).must}
}

// product is each of a followed by each of b, nil if that is too much.
func product(a, b clause) clause {
	if b == nil || len(a)*len(b) > mostLiterals {
		return nil
	}
	var out clause
	for _, x := range a {
		for _, y := range b {
			if len(x.text)+len(y.text) > mostSpelled {
				return nil
			}
			out = append(out, literal{x.text + y.text, x.folded && x.text != "" || y.folded && y.text != ""})
		}
	}
	return out
}

func needOfAlternate(subs []*syntax.Regexp) need {
	whole, any := clause{}, clause{}
	for _, sub := range subs {
		n := needOf(sub)
		if whole != nil && n.whole != nil && len(whole)+len(n.whole) <= mostLiterals {
			whole = append(whole, n.whole...)
		} else {
			whole = nil
		}
		if c := best(n.and(n.whole).must); any != nil && c != nil && len(any)+len(c) <= mostLiterals {
			any = append(any, c...)
		} else {
			any = nil
		}
	}
	if whole != nil {
		return need{whole: whole}
	}
	return need{}.and(any)
}

// best is the clause that is the fastest to look for and says the most; nil if none is
// worth it.
func best(all []clause) clause {
	var out clause
	cost := 0
	for _, c := range all {
		if n := c.cost(); out == nil || n < cost {
			out, cost = c, n
		}
	}
	return out
}

// cost is what it costs to look for a clause: the bytes that are looked at closely.
func (c clause) cost() int {
	sum := 0
	for _, l := range c {
		least := commonness[l.text[rarest(l.text)]] * 2
		if l.folded {
			least *= 2
		}
		sum += 20 + least/len(l.text)
	}
	return sum
}
