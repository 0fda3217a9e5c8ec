package worktree

import (
	"maps"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
)

// recall gives s what is kept of the index and the work tree, as far as anything is.
func (c *Cache) recall(s *status, p gitdir.Location) error {
	if c == nil || c.settle(s.Ctx) != nil {
		return nil
	}
	own := s.Repo.Config
	s.Repo.Config = forStatus(own) // so that both go by one memory
	defer func() { s.Repo.Config = own }()
	if !s.keepable() {
		return nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-s.Ctx.Done():
		return fault.From(s.Ctx.Err())
	}
	scope := s.Repo.scope(p)
	k, changed := c.take(scope)
	all := &status{Comparison: s.Comparison, whole: true}
	all.Prefix = s.Repo.Prefix(scope)
	switch {
	case k == nil && (!s.whole || !c.askedBefore(scope)):
		return nil
	case k == nil:
		if k = c.begin(scope); k == nil {
			return nil
		}
		if err := k.look(all, c.watches); err != nil {
			c.drop(scope, k)
			return err
		}
	default:
		if err := k.lookAgain(all, c.watches, changed); err != nil {
			c.drop(scope, k)
			return err
		}
	}
	if len(all.index.Entries) > mostKeptEntries || len(k.shared) > mostChanged {
		c.drop(scope, k)
	}
	s.index, s.known = all.index, slices.Collect(maps.Keys(k.found))
	for at := range s.index.Entries {
		if s.index.Entries[at].IntentToAdd { // which status does not tell of when it is gone
			s.known = append(s.known, at)
		}
	}
	slices.Sort(s.known)
	s.known = append([]int{}, slices.Compact(s.known)...)
	return nil
}

// askedBefore reports whether somebody has asked for a diff there, and notes that somebody has.
func (c *Cache) askedBefore(scope string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.asked[scope]
	c.asked[scope] = true
	return before
}
