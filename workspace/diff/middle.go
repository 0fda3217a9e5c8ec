package diff

import "math"

// unreached marks a diagonal that the search from the end has not come to.
const unreached = math.MaxInt32

// front is one of the two searches of middle: the diagonals that it has
// reached, low to high.
type front struct{ low, high int }

// widen takes in one diagonal more on both sides, or, at the region's border,
// one less: every second diagonal is visited in turn.
func (f *front) widen(v []int32, zero, lowest, highest int, none int32) {
	if f.low > lowest {
		f.low--
		v[zero+f.low-1] = none
	} else {
		f.low++
	}
	if f.high < highest {
		f.high++
		v[zero+f.high+1] = none
	} else {
		f.high--
	}
}

// middle returns a point on a shortest path through r, which is trimmed and
// has lines on both sides, or, with met false, the furthest point that either
// search came to. It is never a corner of r.
func (s *search) middle(r region) (x, y int, met bool) {
	m := meeting{s: s, a: s.a[r.a0:r.a1], b: s.b[r.b0:r.b1]}
	delta := len(m.a) - len(m.b)
	m.downZero = len(s.forward) / 2
	m.backZero = m.downZero - delta
	m.backFront = front{delta, delta}
	s.forward[m.downZero] = 0
	s.backward[m.backZero+delta] = int32(len(m.a))

	reach := s.reach
	if *s.budget <= 0 {
		reach = minReach
	}
	bestDown, bestUp := point{}, point{len(m.a), len(m.b)}
	for d := 1; d <= reach && (d <= minReach || *s.budget > 0); d++ {
		if at, ok := m.stepForward(delta&1 != 0, &bestDown); ok {
			return r.a0 + at.x, r.b0 + at.y, true
		}
		if at, ok := m.stepBackward(delta&1 == 0, &bestUp); ok {
			return r.a0 + at.x, r.b0 + at.y, true
		}
	}
	best := bestDown
	if len(m.a)+len(m.b)-bestUp.sum() > bestDown.sum() {
		best = bestUp
	}
	return r.a0 + best.x, r.b0 + best.y, false
}

type point struct{ x, y int }

func (p point) sum() int { return p.x + p.y }

// meeting is the state of one middle: two fronts on their way to each other.
// Diagonal k holds the points with x-y = k. Each front begins in the middle of what it
// keeps, of which it needs no more than it can reach; downZero and backZero are where
// diagonal 0 is, or would be.
type meeting struct {
	s                    *search
	a, b                 []int32
	downZero, backZero   int
	downFront, backFront front
}

// stepForward lets the search from the start make one more edit. With meet,
// it looks whether it came across the other search. best is moved on to the
// furthest point inside the region.
func (m *meeting) stepForward(meet bool, best *point) (at point, met bool) {
	v, other := m.s.forward, m.s.backward
	m.downFront.widen(v, m.downZero, -len(m.b), len(m.a), -1)
	for k := m.downFront.high; k >= m.downFront.low; k -= 2 {
		i := m.downZero + k
		x := int(v[i+1])
		if v[i-1] >= v[i+1] {
			x = int(v[i-1]) + 1
		}
		start := x
		for x < len(m.a) && x-k < len(m.b) && m.a[x] == m.b[x-k] {
			x++
		}
		*m.s.budget -= x - start + 1
		v[i] = int32(x)
		if meet && m.backFront.low <= k && k <= m.backFront.high && int(other[m.backZero+k]) <= x {
			return point{x, x - k}, true
		}
		if at := (point{x, x - k}); at.x <= len(m.a) && at.y <= len(m.b) && at.sum() > best.sum() {
			*best = at
		}
	}
	return point{}, false
}

// stepBackward is stepForward's mirror image, from the end.
func (m *meeting) stepBackward(meet bool, best *point) (at point, met bool) {
	v, other := m.s.backward, m.s.forward
	m.backFront.widen(v, m.backZero, -len(m.b), len(m.a), unreached)
	for k := m.backFront.high; k >= m.backFront.low; k -= 2 {
		i := m.backZero + k
		x := int(v[i-1])
		if v[i-1] >= v[i+1] {
			x = int(v[i+1]) - 1
		}
		start := x
		for x > 0 && x-k > 0 && m.a[x-1] == m.b[x-k-1] {
			x--
		}
		*m.s.budget -= start - x + 1
		v[i] = int32(x)
		if meet && m.downFront.low <= k && k <= m.downFront.high && x <= int(other[m.downZero+k]) {
			return point{x, x - k}, true
		}
		if at := (point{x, x - k}); at.x >= 0 && at.y >= 0 && at.sum() < best.sum() {
			*best = at
		}
	}
	return point{}, false
}
