package git

import (
	"cmp"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// run returns the changes, ordered by path.
func (c *comparison) run(o DiffOptions) ([]change, error) {
	s := &status{comparison: *c}
	changes, err := s.compare(o)
	c.matched = s.matched
	return changes, err
}

// compare is run. What is known from before of the index and the work tree is not read.
func (s *status) compare(o DiffOptions) ([]change, error) {
	if s.index == nil {
		if err := s.readIndex(); err != nil {
			return nil, err
		}
		s.repo.work.conversion.attributes.staged = s.index.attributes()
	}
	lo, hi := s.within()
	s.matched = lo < hi
	var changes []change
	var err error
	if o.Base == "" && !o.Staged {
		changes, err = s.sinceIndex()
	} else {
		changes, err = s.sinceCommit(o)
	}
	if err != nil {
		return nil, err
	}
	if changes, err = s.renames(changes); err != nil {
		return nil, err
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return changes, nil
}

// at is all that the index holds of the path of the entry i, the first one of it.
func (x *index) at(i int) staged {
	var s staged
	for path := x.entries[i].path; i < len(x.entries) && x.entries[i].path == path; i++ {
		s[x.entries[i].stage] = x.entries[i]
	}
	return s
}

// worktree walks the work tree and gives the places in the index of what may differ there.
func (s *status) worktree() ([]int, error) {
	lo, hi := s.within()
	if s.known != nil || lo == hi {
		return slices.DeleteFunc(slices.Clone(s.known), func(at int) bool { return at < lo || at >= hi }), nil
	}
	w := s.newWalk()
	w.untold = true
	first, err := w.first()
	if err == nil {
		err = w.run([]walking{first})
	}
	return w.suspects, err
}

// sinceIndex compares the work tree with the index.
func (s *status) sinceIndex() ([]change, error) {
	suspects, err := s.worktree()
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, at := range suspects {
		if err := s.ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		entry := s.index.at(at)
		e := entry.any()
		current, err := s.current(&stagedFiles{index: s.index}, e)
		if err != nil {
			return nil, err
		}
		ch := change{path: e.path, oldPath: e.path, new: current, unmerged: !entry.merged()}
		switch {
		case ch.unmerged && entry[2].path == "":
			ch.new = side{}
		case !e.intentToAdd, current.absent(): // what was only intended is gone as the empty file that the index has
			ch.old = side{mode: e.mode, hash: e.hash}
		}
		if ch.unmerged || !ch.old.same(ch.new) {
			changes = append(changes, ch)
		}
	}
	return changes, nil
}

// sinceCommit compares the index, or the work tree, with a commit.
func (s *status) sinceCommit(o DiffOptions) ([]change, error) {
	tree, err := s.treeOf(o.Base)
	if err != nil {
		return nil, err
	}
	d, err := s.against(tree)
	if err != nil {
		return nil, err
	}
	changes := d.changes
	if o.Staged {
		for _, ch := range d.conflicts {
			changes = append(changes, change{path: ch.path, oldPath: ch.path, unmerged: true})
		}
	} else if changes, err = s.onDisk(append(changes, d.conflicts...)); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return changes, nil
}

// onDisk takes the index's changes on to the work tree.
func (s *status) onDisk(changes []change) ([]change, error) {
	suspects, err := s.worktree()
	if err != nil {
		return nil, err
	}
	known := make(map[string]int, len(changes))
	for i, ch := range changes {
		known[ch.path] = i
	}
	for _, at := range suspects {
		if err := s.ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		e := s.index.at(at).any()
		e.mode = s.index.entries[at].mode // of a conflict, git takes the first
		i, changed := known[e.path]
		if !changed {
			i = len(changes)
			changes = append(changes, change{path: e.path, oldPath: e.path})
			if !e.intentToAdd {
				changes[i].old = side{mode: e.mode, hash: e.hash}
			}
		}
		if changes[i].new, err = s.current(&stagedFiles{index: s.index}, e); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(changes, func(ch change) bool { return ch.old.same(ch.new) }), nil
}

// treeOf is the tree of a commit: of HEAD if none is named, and nil as long as there is none.
func (s *status) treeOf(revision string) (*plumbing.Hash, error) {
	if _, born := s.repo.head(); revision == "" && !born {
		return nil, nil
	}
	if revision == "" {
		revision = "HEAD"
	}
	commit, err := s.repo.commit(revision)
	if err != nil {
		return nil, err
	}
	return &commit.TreeHash, nil
}
