package worktree

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// run returns the changes, ordered by path.
func (c *Comparison) run(o DiffOptions) ([]Difference, error) {
	s := &status{Comparison: *c}
	changes, err := s.compare(o)
	c.matched = s.matched
	return changes, err
}

// compare is run. What is known from before of the index and the work tree is not read.
func (s *status) compare(o DiffOptions) ([]Difference, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	var changes []Difference
	var err error
	if o.Base == "" && !o.Staged {
		changes, err = s.sinceIndex()
	} else {
		changes, err = s.sinceCommit(o)
	}
	if err != nil {
		return nil, err
	}
	if changes, err = s.Renames(changes); err != nil {
		return nil, err
	}
	slices.SortStableFunc(changes, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// SinceCommit compares the index, or the work tree, with a commit. Renames are not looked for.
func (c *Comparison) SinceCommit(o DiffOptions) ([]Difference, error) {
	s := &status{Comparison: *c}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.sinceCommit(o)
}

// prepare reads the index, unless it is known from before.
func (s *status) prepare() error {
	if s.index == nil {
		if err := s.readIndex(); err != nil {
			return err
		}
		s.Repo.Work.Conversion.Attributes.staged = s.index.attributes()
	}
	lo, hi := s.within()
	s.matched = lo < hi
	return nil
}

// at is all that the index holds of the path of the entry i, the first one of it.
func (x *index) at(i int) staged {
	var s staged
	for path := x.Entries[i].path; i < len(x.Entries) && x.Entries[i].path == path; i++ {
		s[x.Entries[i].stage] = x.Entries[i]
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
func (s *status) sinceIndex() ([]Difference, error) {
	suspects, err := s.worktree()
	if err != nil {
		return nil, err
	}
	var changes []Difference
	for _, at := range suspects {
		if err := s.Ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		entry := s.index.at(at)
		e := entry.Any()
		current, err := s.Current(&StagedFiles{index: s.index}, e)
		if err != nil {
			return nil, err
		}
		ch := Difference{Path: e.path, OldPath: e.path, New: current, Unmerged: !entry.Merged()}
		switch {
		case ch.Unmerged && entry[2].path == "":
			ch.New = Side{}
		case !e.IntentToAdd, current.Absent(): // what was only intended is gone as the empty file that the index has
			ch.Old = Side{Mode: e.Mode, Hash: e.Hash}
		}
		if ch.Unmerged || !ch.Old.Same(ch.New) {
			changes = append(changes, ch)
		}
	}
	return changes, nil
}

// sinceCommit compares the index, or the work tree, with a commit.
func (s *status) sinceCommit(o DiffOptions) ([]Difference, error) {
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
			changes = append(changes, Difference{Path: ch.Path, OldPath: ch.Path, Unmerged: true})
		}
	} else if changes, err = s.onDisk(append(changes, d.conflicts...)); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// onDisk takes the index's changes on to the work tree.
func (s *status) onDisk(changes []Difference) ([]Difference, error) {
	suspects, err := s.worktree()
	if err != nil {
		return nil, err
	}
	known := make(map[string]int, len(changes))
	for i, ch := range changes {
		known[ch.Path] = i
	}
	for _, at := range suspects {
		if err := s.Ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		e := s.index.at(at).Any()
		e.Mode = s.index.Entries[at].Mode // of a conflict, git takes the first
		i, changed := known[e.path]
		if !changed {
			i = len(changes)
			changes = append(changes, Difference{Path: e.path, OldPath: e.path})
			if !e.IntentToAdd {
				changes[i].Old = Side{Mode: e.Mode, Hash: e.Hash}
			}
		}
		if changes[i].New, err = s.Current(&StagedFiles{index: s.index}, e); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(changes, func(ch Difference) bool { return ch.Old.Same(ch.New) }), nil
}

// treeOf is the tree of a commit: of HEAD if none is named, and nil as long as there is none.
func (s *status) treeOf(revision string) (*plumbing.Hash, error) {
	if _, born := s.Repo.Head(); revision == "" && !born {
		return nil, nil
	}
	if revision == "" {
		revision = "HEAD"
	}
	commit, err := s.Repo.Commit(revision)
	if err != nil {
		return nil, err
	}
	return &commit.TreeHash, nil
}

// ChangesAt compares two states of the repository that o.Dir lies in. The caller closes it.
func ChangesAt(ctx context.Context, root string, o DiffOptions, c *Cache) (_ *Checkout, _ []Difference, err error) {
	place, repo, err := Open(root, o.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			repo.Close()
		}
	}()
	s := &status{Comparison: Comparison{Ctx: ctx, Repo: repo, Prefix: repo.Prefix(place.Dir)}, whole: place.Dir == place.Root || place.Dir == repo.Top}
	if err := c.recall(s, place); err != nil {
		return nil, nil, err
	}
	s.whole = false
	changes, err := s.compare(o)
	if err != nil {
		return nil, nil, err
	}
	if len(changes) == 0 && !s.matched && !place.Exists {
		return nil, nil, fault.New(fault.FileNotFound,
			"%s is neither in the work tree nor in what it would be compared with", fault.Quote(s.Prefix))
	}
	return repo, changes, nil
}
