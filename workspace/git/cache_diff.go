package git

import (
	"context"
	"maps"
	"slices"

	"pillion/internal/fault"
)

// Diff is the package's Diff, with what is kept: of the work tree only that is looked at
// which is known to differ. Who asks for a second time has a first look kept.
func (c *Cache) Diff(ctx context.Context, root string, o DiffOptions) (DiffResult, error) {
	return compareAt(ctx, root, o, c)
}

// recall gives s what is kept of the index and the work tree, as far as anything is.
func (c *Cache) recall(s *status, p place) error {
	if c == nil || c.settle(s.ctx) != nil {
		return nil
	}
	own := s.repo.config
	s.repo.config = own.forStatus() // so that both go by one memory
	defer func() { s.repo.config = own }()
	if !s.keepable() {
		return nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-s.ctx.Done():
		return fault.From(s.ctx.Err())
	}
	scope := s.repo.scope(p)
	k, changed := c.take(scope)
	all := &status{comparison: s.comparison, whole: true}
	all.prefix = s.repo.prefix(scope)
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
	if len(all.index.entries) > mostKeptEntries || len(k.shared) > mostChanged {
		c.drop(scope, k)
	}
	s.index, s.known = all.index, slices.Collect(maps.Keys(k.found))
	for at := range s.index.entries {
		if s.index.entries[at].intentToAdd { // which status does not tell of when it is gone
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
