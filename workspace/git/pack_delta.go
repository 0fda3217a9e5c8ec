package git

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-git/go-git/v5/plumbing"
)

// stored is an object as it is read.
type stored struct {
	kind plumbing.ObjectType
	data []byte // shared: not to be changed
}

// recent keeps objects that deltas may start from, up to a bound: what was not
// used while half of it filled up is dropped.
type recent struct {
	young, old map[packPlace]stored
	size       int
}

type packPlace struct {
	pack   *pack
	offset int64
}

const mostRecent = 12 << 20 // bytes of each half

func (c *recent) get(at packPlace) (stored, bool) {
	if s, ok := c.young[at]; ok {
		return s, true
	}
	s, ok := c.old[at]
	if ok {
		c.put(at, s)
	}
	return s, ok
}

func (c *recent) put(at packPlace, s stored) {
	const overhead = 100
	if len(s.data) > mostRecent/4 {
		return
	}
	if c.size += len(s.data) + overhead; c.size > mostRecent || c.young == nil {
		c.old, c.young, c.size = c.young, map[packPlace]stored{}, len(s.data)+overhead
	}
	c.young[at] = s
}

// unpack reads the object at offset, of at most limit bytes.
func (o *objects) unpack(p *pack, offset int64, limit int64) (_ stored, err error) {
	const longestChain = 10_000 // git makes none of more than 4095
	defer guard(debug.SetPanicOnFault(true), &err)
	if err := p.open(); err != nil {
		return stored{}, err
	}
	var deltas []entry
	var places []int64
	for at := offset; ; {
		if base, ok := o.recent.get(packPlace{p, at}); ok {
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
		if e.size > maxObject || len(deltas) > longestChain {
			return stored{}, fmt.Errorf("what it is made from: %w", errBig)
		}
		if e.kind == offsetDelta || e.kind == hashDelta {
			deltas, places = append(deltas, e), append(places, at)
			at = e.base
			continue
		}
		s := stored{kind: plumbing.ObjectType(e.kind)}
		if s.kind < plumbing.CommitObject || s.kind > plumbing.TagObject {
			return stored{}, errDamaged
		}
		if s.data, err = p.content(&o.inflater, e); err != nil {
			return stored{}, err
		}
		if s.kind == plumbing.TreeObject || len(deltas) > 0 { // commits and files are seldom a base
			o.recent.put(packPlace{p, at}, s)
		}
		return o.rebuild(p, s, deltas, places)
	}
}

// within refuses an object of more than limit bytes before it is read.
func (o *objects) within(p *pack, e entry, limit int64) error {
	size := e.size
	if e.kind == offsetDelta || e.kind == hashDelta {
		var err error
		if size, err = p.resultSize(&o.inflater, e); err != nil {
			return err
		}
	}
	if size > limit {
		return errBig
	}
	return nil
}

// rebuild applies deltas, the last of which starts from base.
func (o *objects) rebuild(p *pack, base stored, deltas []entry, places []int64) (stored, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		delta, err := p.delta(&o.inflater, deltas[i])
		if err != nil {
			return stored{}, err
		}
		if base.data, err = patched(base.data, delta); err != nil {
			return stored{}, err
		}
		if base.kind == plumbing.TreeObject || i > 0 {
			o.recent.put(packPlace{p, places[i]}, base)
		}
	}
	return base, nil
}

const maxObject = 2 * maxFile

var errNoObject = errors.New("object not found")
