package diff

// compare marks what differs between two texts that share neither their first
// nor their last line. It takes the steps of its search off budget.
func compare(before, after []string, budget *int) changes {
	c := changes{deleted: make([]bool, len(before)), inserted: make([]bool, len(after))}
	t, a := newTable(before)
	b := t.numbers(after, a)
	kinds := len(t.kinds)
	inA, inB := count(a, kinds), count(b, kinds)

	keptA, idsA := matchable(a, inB, c.deleted)
	keptB, idsB := matchable(b, inA, c.inserted)
	s := newSearch(idsA, idsB, kinds, budget)
	s.solve(region{0, len(idsA), 0, len(idsB)}, len(idsA)+len(idsB))
	for i, gone := range s.deleted {
		c.deleted[keptA[i]] = gone
	}
	for j, came := range s.inserted {
		c.inserted[keptB[j]] = came
	}
	return c
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

// matchable marks as changed the lines that need no search and returns the
// indexes and numbers of the others. A line that the other side lacks is
// certain; a crowded one goes with them where it stands alone in rewritten
// text, since a brace kept there only tears the change apart.
func matchable(ids, other []int32, changed []bool) (kept, left []int32) {
	class := make([]byte, len(ids))
	many := crowd(len(ids))
	left = make([]int32, 0, len(ids))
	kept = make([]int32, 0, len(ids))
	for i, id := range ids {
		switch {
		case id == unknown || other[id] == 0:
			class[i] = absent
		case other[id] >= many:
			class[i] = crowded
		default:
			class[i] = useful
		}
	}
	for i, id := range ids {
		if class[i] == absent || class[i] == crowded && stray(class, i) {
			changed[i] = true
			continue
		}
		kept = append(kept, int32(i))
		left = append(left, id)
	}
	return kept, left
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
