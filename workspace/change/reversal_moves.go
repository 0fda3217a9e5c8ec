package change

import (
	"slices"

	"pillion/workspace"
)

// compileMoves puts the moves into an order in which each finds its new name free. Those
// that wait for each other, such as two files that changed places, go by way of a name
// that nobody has.
func (r *reversal) compileMoves(gone []workspace.Path) error {
	var last []TreeChange
	for left := slices.Clone(r.moves); len(left) > 0; {
		i := slices.IndexFunc(left, func(m renaming) bool { return m.isNext(left, gone) })
		around := i < 0
		if around {
			i = slices.IndexFunc(left, func(m renaming) bool { return !m.holdsOther(left) })
		}
		m := left[i]
		left = slices.Delete(left, i, i+1)
		to := m.to
		if around {
			to = m.aside(left)
		}
		c, err := newMove(r.snap, m.from, to, false, gone)
		if err != nil {
			return err
		}
		r.set.Tree = append(r.set.Tree, c)
		gone = append(gone, c.Source)
		if around {
			second, err := c.goOn(r, m.to)
			if err != nil {
				return err
			}
			last = append(last, second)
		}
	}
	r.set.Tree = append(r.set.Tree, last...)
	return nil
}

// isNext: the new name is free, and no other move would take what is moved along, or
// has to make the folder that it goes into.
func (m renaming) isNext(left []renaming, gone []workspace.Path) bool {
	free := slices.Contains(gone, m.to) || !m.to.Exists()
	return free && !m.holdsOther(left) &&
		!slices.ContainsFunc(left, func(o renaming) bool { return o.to != m.to && m.to.IsIn(o.to) })
}

// holdsOther: something else that is to be moved is in what is moved.
func (m renaming) holdsOther(left []renaming) bool {
	return slices.ContainsFunc(left, func(o renaming) bool { return o.from != m.from && o.from.IsIn(m.from) })
}

// aside is a name for the time being, in no folder that is itself moved.
func (m renaming) aside(left []renaming) workspace.Path {
	dir := m.from.Dir()
	for moved := true; moved; {
		moved = false
		for _, o := range left {
			if dir.IsIn(o.from) {
				dir, moved = o.from.Dir(), true
			}
		}
	}
	return dir.Join(workspace.NewTemp())
}

// goOn is the second half of a move that goes by way of another name.
func (c TreeChange) goOn(r *reversal, to workspace.Path) (TreeChange, error) {
	target, err := to.Entry()
	if err != nil {
		return c, err
	}
	c.Path, c.Source, c.To, c.Target = c.To, c.Target, to, target
	c.Open = r.snap.Below(target)
	c.Missing, err = missing(r.snap, target.Dir())
	return c, err
}
