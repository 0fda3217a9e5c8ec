package diff

import "bytes"

// compare marks what differs between two texts that share neither their first
// nor their last line. It takes the steps of its search off budget.
func compare(before, after []string, budget *int) changes {
	c := changes{deleted: make([]bool, len(before)), inserted: make([]bool, len(after))}
	t, a := newTable(before)
	b := t.numbers(after, a)
	kinds := len(t.kinds)
	inA, inB := count(a, kinds), count(b, kinds)

	a = matchable(a, inB, c.deleted)
	b = matchable(b, inA, c.inserted)
	s := newSearch(a, b, kinds, budget)
	s.solve(region{0, len(a), 0, len(b)}, len(a)+len(b))
	spread(s.deleted, c.deleted)
	spread(s.inserted, c.inserted)
	return c
}

// spread marks what the search found changed among the lines that it was given: those
// that are not marked yet.
func spread(found, changed []bool) {
	next := 0
	for i, known := range changed {
		if !known {
			changed[i] = found[next]
			next++
		}
	}
}

func count(ids []int32, kinds int) []int32 {
	counts := make([]int32, kinds)
	for _, id := range ids {
		if id != unknown {
			counts[id]++
		}
	}
	return counts
}

// What a line can contribute to the script.
const (
	absent  = iota // the other side does not have it
	useful         // worth matching
	crowded        // the other side has very many of it: a blank line, a brace
)

// matchable marks as changed the lines that need no search, and returns the numbers of
// the others, in the place of ids. A line that the other side lacks is certain; a crowded
// one goes with them where it stands alone in rewritten text, since a brace kept there
// only tears the change apart.
func matchable(ids, other []int32, changed []bool) (left []int32) {
	class := make([]byte, len(ids))
	many := crowd(len(ids))
	for i, id := range ids {
		class[i] = absent
		if id != unknown {
			class[i] = classOf(other[id], many)
		}
	}
	left = ids[:0]
	done := 0
	for done < len(ids) {
		next := bytes.IndexByte(class[done:], absent)
		if next < 0 {
			break
		}
		from := done + next // a run around a line that is absent
		for from > done && class[from-1] == crowded {
			from--
		}
		left = append(left, ids[done:from]...)
		for done = from; done < len(ids) && class[done] != useful; done++ {
			if changed[done] = class[done] == absent || stray(class, done); !changed[done] {
				left = append(left, ids[done])
			}
		}
	}
	return append(left, ids[done:]...)
}

func classOf(there, many int32) byte {
	var class byte = useful
	if there >= many {
		class = crowded
	}
	if there == 0 {
		class = absent
	}
	return class
}

// crowd is how often a line must occur to be crowded: about twice the square
// root of the text's length, and never more than 1024.
func crowd(lines int) int32 {
	limit := int32(2)
	for ; lines > 0 && limit < 1024; lines >>= 2 {
		limit <<= 1
	}
	return limit
}

// stray reports whether the crowded line i stands in a run that goes on with
// absent lines both ways, in which those outnumber the crowded three to one.
func stray(class []byte, i int) bool {
	const window = 100
	var seen [3]int
	for _, step := range [2]int{-1, 1} {
		before := seen[absent]
		for k := 1; k <= window; k++ {
			at := i + k*step
			if at < 0 || at >= len(class) || class[at] == useful {
				break
			}
			seen[class[at]]++
		}
		if seen[absent] == before {
			return false
		}
	}
	return seen[absent] > 3*(seen[crowded]+1)
}
