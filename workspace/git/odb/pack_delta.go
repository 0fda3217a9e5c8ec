package odb

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitfile"
)

// stored is an object as it is read.
type stored struct {
	Kind plumbing.ObjectType
	Data []byte // shared: not to be changed
}

// recent keeps objects that deltas may start from, each in the one slot that its place
// leads to. Over a bound, slot after slot is emptied.
type recent struct {
	slots []recentSlot
	size  int
	hand  int // the slot to empty next
}

type recentSlot struct {
	pack   *pack // nil: it is empty
	offset int64
	stored
}

const (
	mostRecent    = 24 << 20 // bytes
	recentBits    = 13       // of the number of a slot
	recentSlots   = 1 << recentBits
	largestRecent = 3 << 20 // bytes of one object
)

// slot is the one of a place: what lies close together in a pack is spread.
func (c *recent) slot(offset int64) *recentSlot {
	const spread = 0x9e3779b97f4a7c15
	return &c.slots[uint64(offset)*spread>>(64-recentBits)]
}

func (c *recent) get(p *pack, offset int64) (stored, bool) {
	if c.slots == nil {
		return stored{}, false
	}
	s := c.slot(offset)
	if s.pack != p || s.offset != offset {
		return stored{}, false
	}
	return s.stored, true
}

func (c *recent) put(p *pack, offset int64, o stored) {
	if len(o.Data) > largestRecent {
		return
	}
	if c.slots == nil {
		c.slots = make([]recentSlot, recentSlots)
	}
	s := c.slot(offset)
	c.size += len(o.Data) - len(s.Data)
	*s = recentSlot{p, offset, o}
	for c.size > mostRecent {
		if old := &c.slots[c.hand]; old != s {
			c.size -= len(old.Data)
			*old = recentSlot{}
		}
		c.hand = (c.hand + 1) % recentSlots
	}
}

// unpack reads the object at offset, of at most limit bytes.
func (o *Objects) unpack(p *pack, offset int64, limit int64) (_ stored, err error) {
	const longestChain = 10_000 // git makes none of more than 4095
	if err := p.open(); err != nil {
		return stored{}, err
	}
	var deltas []packEntry
	var places []int64
	for at := offset; ; {
		if base, ok := o.recent.get(p, at); ok {
			return o.rebuild(p, base, deltas, places)
		}
		e, err := p.entryAt(at)
		if err != nil {
			return stored{}, err
		}
		if at == offset {
			if err := o.within(p, e, limit); err != nil {
				return stored{}, err
			}
		}
		if e.size > MaxObject || len(deltas) > longestChain {
			return stored{}, fmt.Errorf("what it is made from: %w", gitfile.ErrBig)
		}
		if e.kind == offsetDelta || e.kind == hashDelta {
			deltas, places = append(deltas, e), append(places, at)
			at = e.base
			continue
		}
		s := stored{Kind: plumbing.ObjectType(e.kind)}
		if s.Kind < plumbing.CommitObject || s.Kind > plumbing.TagObject {
			return stored{}, errDamaged
		}
		if s.Data, err = p.content(&o.inflater, e); err != nil {
			return stored{}, err
		}
		if s.Kind == plumbing.TreeObject || len(deltas) > 0 { // commits and files are seldom a base
			o.recent.put(p, at, s)
		}
		return o.rebuild(p, s, deltas, places)
	}
}

// within refuses an object of more than limit bytes before it is read.
func (o *Objects) within(p *pack, e packEntry, limit int64) error {
	size := e.size
	if e.kind == offsetDelta || e.kind == hashDelta {
		var err error
		if size, err = p.resultSize(&o.inflater, e); err != nil {
			return err
		}
	}
	if size > limit {
		return gitfile.ErrBig
	}
	return nil
}

// rebuild applies deltas, the last of which starts from base.
func (o *Objects) rebuild(p *pack, base stored, deltas []packEntry, places []int64) (stored, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		delta, err := p.delta(&o.inflater, deltas[i])
		if err != nil {
			return stored{}, err
		}
		if base.Data, err = patched(base.Data, delta); err != nil {
			return stored{}, err
		}
		if base.Kind == plumbing.TreeObject || i > 0 {
			o.recent.put(p, places[i], base)
		}
	}
	return base, nil
}

const MaxObject = 2 * MaxFile

var errNoObject = errors.New("object not found")
