package diff

import (
	"hash/maphash"
	"math/bits"
)

// unknown is the number of a line that a table does not have.
const unknown = -1

// table gives the lines of a text numbers, equal ones the same. It is a hash
// table with open addressing, which costs a third of what a map does. Its seed
// is the process's own, so no text can be made to collide, and the numbers do
// not depend on it.
type table struct {
	lines []string
	slots []slot
	kinds []kind // by number
}

// slot holds a number and 1, with a part of the hash; 0 is an empty one.
type slot struct{ hash, number uint32 }

// kind is all lines that are equal: the first of them, and whether there are more.
type kind struct {
	first int32
	more  bool
}

var seed = maphash.MakeSeed()

// newTable numbers lines, and returns their numbers.
func newTable(lines []string) (*table, []int32) {
	size := 1 << bits.Len(uint(2*len(lines))) // so that it is at most half full
	t := &table{lines: lines, slots: make([]slot, size), kinds: make([]kind, 0, len(lines))}
	numbers := make([]int32, len(lines))
	for i, line := range lines {
		at, hash := t.find(line)
		if at.number == 0 {
			t.kinds = append(t.kinds, kind{first: int32(i)})
			*at = slot{hash, uint32(len(t.kinds))}
		} else {
			t.kinds[at.number-1].more = true
		}
		numbers[i] = int32(at.number) - 1
	}
	return t, numbers
}

// find returns the slot of a line, or the empty one where it would be, and the
// part of its hash that a slot keeps.
func (t *table) find(line string) (*slot, uint32) {
	full := maphash.String(seed, line)
	hash := uint32(full >> 32)
	for at := int(full) & (len(t.slots) - 1); ; at = (at + 1) & (len(t.slots) - 1) {
		s := &t.slots[at]
		if s.number == 0 || s.hash == hash && t.lines[t.kinds[s.number-1].first] == line {
			return s, hash
		}
	}
}

// numbers returns the numbers of the lines of another text, unknown for those
// that the table does not have. Where the texts go on alike, lines are compared
// with the next one, which costs no hash.
func (t *table) numbers(lines []string, own []int32) []int32 {
	numbers := make([]int32, len(lines))
	next := 0 // the line that is expected
	for j, line := range lines {
		switch {
		case next < len(own) && t.lines[next] == line:
		case next+1 < len(own) && t.lines[next+1] == line: // past one that was replaced
			next++
		default:
			at, _ := t.find(line)
			numbers[j] = int32(at.number) - 1
			if at.number > 0 && !t.kinds[at.number-1].more {
				next = int(t.kinds[at.number-1].first) + 1
			}
			continue
		}
		numbers[j] = own[next]
		next++
	}
	return numbers
}
