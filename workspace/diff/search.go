package diff

import "slices"

// region is a part of both sequences: old lines a0 to a1, new lines b0 to b1.
type region struct{ a0, a1, b0, b1 int }

func (r region) size() int { return r.a1 - r.a0 + r.b1 - r.b0 }

// search looks for the longest common subsequence of a and b.
//
// It is Myers' linear-space algorithm: two searches run towards each other
// along the diagonals, where they meet the region is cut in two. A region in
// which they do not meet within reach is cut at the lines that occur once on
// both sides (patience), where there are enough of them in the same order to
// say what belongs together, or else at the furthest point that either came to.
//
// So the script is shortest up to 2*reach changes. A search that does not meet
// the other looks at no more than 2*reach diagonals, each no further than the
// cut that it makes, so the work is linear, and after budget steps, in very
// long texts of which hardly anything stayed, reach is small.
type search struct {
	a, b              []int32
	deleted, inserted []bool

	forward, backward []int32 // furthest x on each diagonal within reach, from either end
	kinds             int     // how many numbers of lines there are
	onceA, onceB      []int32 // scratch of patience, by line number
	position          []int32

	reach  int  // how many edits either search may make before it gives up
	budget *int // steps left; afterwards reach is minReach
}

const (
	totalBudget = 150_000_000
	minReach    = 16
	usualReach  = 128
	smallWork   = 500_000 // steps that do not matter: short texts are searched further
)

func newSearch(a, b []int32, kinds int, budget *int) *search {
	lines := len(a) + len(b)
	reach := max(usualReach, smallWork/(lines+1))
	diagonals := 2*min(reach, lines) + 5 // either way, the middle, and one more at each end
	return &search{
		a: a, b: b,
		deleted: make([]bool, len(a)), inserted: make([]bool, len(b)),
		forward: make([]int32, diagonals), backward: make([]int32, diagonals),
		kinds: kinds, reach: reach, budget: budget,
	}
}

// solve marks the changed lines of r. Patience is tried on regions up to the
// size of patience alone, for it looks at every line of one. solve recurses
// into the smaller half of a cut, so its depth is logarithmic.
func (s *search) solve(r region, patience int) {
	for {
		r = s.trim(r)
		if r.a0 == r.a1 || r.b0 == r.b1 {
			s.mark(r)
			return
		}
		x, y, met := s.middle(r)
		if !met && r.size() <= patience {
			patience = r.size() / 2
			if anchors := s.anchors(r); len(anchors) > 0 {
				s.between(r, anchors, patience)
				return
			}
		}
		left, right := region{r.a0, x, r.b0, y}, region{x, r.a1, y, r.b1}
		if left.size() > right.size() {
			left, right = right, left
		}
		s.solve(left, patience)
		r = right
	}
}

func (s *search) trim(r region) region {
	head := commonPrefix(s.a[r.a0:r.a1], s.b[r.b0:r.b1])
	r.a0 += head
	r.b0 += head
	tail := commonSuffix(s.a[r.a0:r.a1], s.b[r.b0:r.b1])
	r.a1 -= tail
	r.b1 -= tail
	return r
}

func (s *search) mark(r region) {
	for i := r.a0; i < r.a1; i++ {
		s.deleted[i] = true
	}
	for j := r.b0; j < r.b1; j++ {
		s.inserted[j] = true
	}
}

// anchor is a line that occurs once on either side of a region.
type anchor struct{ a, b int32 }

// between solves the gaps that anchors leave in r.
func (s *search) between(r region, anchors []anchor, patience int) {
	a, b := r.a0, r.b0
	for _, at := range anchors {
		s.solve(region{a, int(at.a), b, int(at.b)}, patience)
		a, b = int(at.a)+1, int(at.b)+1
	}
	s.solve(region{a, r.a1, b, r.b1}, patience)
}

// anchors returns the longest series of once-only lines that rises on both
// sides. Where it is less than half of them, or hardly any line of the region,
// chance put them there: the texts are not alike, and it is nil.
func (s *search) anchors(r region) []anchor {
	if s.position == nil {
		s.onceA, s.onceB, s.position = make([]int32, s.kinds), make([]int32, s.kinds), make([]int32, s.kinds)
	}
	for _, id := range s.a[r.a0:r.a1] {
		s.onceA[id]++
	}
	for j := r.b0; j < r.b1; j++ {
		s.onceB[s.b[j]]++
		s.position[s.b[j]] = int32(j)
	}
	unique := make([]anchor, 0, r.a1-r.a0)
	for i := r.a0; i < r.a1; i++ {
		if id := s.a[i]; s.onceA[id] == 1 && s.onceB[id] == 1 {
			unique = append(unique, anchor{int32(i), s.position[id]})
		}
	}
	for _, id := range s.a[r.a0:r.a1] {
		s.onceA[id] = 0
	}
	for _, id := range s.b[r.b0:r.b1] {
		s.onceB[id] = 0
	}
	const sparse = 32
	series := rising(unique)
	if 2*len(series) < len(unique) || sparse*len(series) < r.size() {
		return nil
	}
	return series
}

// rising is the longest increasing subsequence by b of anchors ordered by a.
func rising(all []anchor) []anchor {
	if slices.IsSortedFunc(all, func(p, q anchor) int { return int(p.b) - int(q.b) }) {
		return all
	}
	ends := make([]int32, 0, len(all)) // ends[n] is the anchor with the lowest b that ends a series of n+1
	previous := make([]int32, len(all))
	for i, at := range all {
		n := len(ends)
		if n > 0 && all[ends[n-1]].b > at.b {
			n, _ = slices.BinarySearchFunc(ends, at.b, func(end, b int32) int { return int(all[end].b) - int(b) })
		}
		previous[i] = -1
		if n > 0 {
			previous[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, int32(i))
		} else {
			ends[n] = int32(i)
		}
	}
	series := make([]anchor, len(ends))
	for i, at := len(ends)-1, ends[len(ends)-1]; i >= 0; i, at = i-1, previous[at] {
		series[i] = all[at]
	}
	return series
}
