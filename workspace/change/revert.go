package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/journal"
)

// Reverted is what became of putting change sets back. The lists are paths as tools
// print them.
type Reverted struct {
	Reverted  []string          `json:"reverted"`  // as they were before
	Merged    []string          `json:"merged"`    // what others wrote since is kept beside it
	Conflicts []string          `json:"conflicts"` // left alone
	Reasons   map[string]string `json:"reasons"`   // of each conflict
	// CallID names the revert itself, which can be put back too; empty when nothing was
	// changed.
	CallID string `json:"callId,omitempty"`
	// Preview is the set that was made, or would be.
	Preview []FilePreview `json:"-"`
}

// Revert puts back what was selected, newest change first: all of it that can be put
// back without touching what others wrote, or, when that fails, nothing. With dry it
// only says what would happen. An origin without a title gets one that says what is
// put back.
func (c *Committer) Revert(ctx context.Context, sel Selection, origin journal.Origin, dry bool) (Reverted, error) {
	if c.Journal == nil {
		return Reverted{}, fault.New(fault.ExecutionFailed, "there is no journal, so nothing can be reverted")
	}
	entries, err := c.revertible(sel)
	if err != nil {
		return Reverted{}, err
	}
	if !dry && len(entries) > 1 && slices.ContainsFunc(entries, moves) {
		return c.revertEach(ctx, entries, c.besides(sel.Path, entries), origin)
	}
	return c.revertAll(ctx, sel, entries, origin, dry)
}

// besides are the absolute names of what is left alone where one file is meant.
func (c *Committer) besides(name string, entries []journal.Entry) map[string]bool {
	others := map[string]bool{}
	for _, e := range entries {
		for _, r := range e.Records {
			if name != "" && name != c.nameOf(r.Path, r.Name) {
				others[r.Path] = true
			}
		}
	}
	return others
}

func moves(e journal.Entry) bool {
	return slices.ContainsFunc(e.Records, func(r journal.Record) bool { return r.Operation == string(Move) })
}

// revertible are the entries that can be put back, newest first.
func (c *Committer) revertible(sel Selection) ([]journal.Entry, error) {
	entries, err := c.entries(sel, 0)
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "the journal cannot be read: %v", err)
	}
	return slices.DeleteFunc(entries, func(e journal.Entry) bool {
		return e.State == journal.StateReverted || e.State == journal.StateUndone
	}), nil
}

// revertAll puts the entries back as one change set. Where files moved on meanwhile, it
// looks again at what was selected.
func (c *Committer) revertAll(ctx context.Context, sel Selection, entries []journal.Entry, origin journal.Origin, dry bool) (Reverted, error) {
	for attempt := 0; ; attempt++ {
		plan, err := c.revertOnce(ctx, entries, c.besides(sel.Path, entries), origin, dry)
		if !errors.Is(err, ErrMoved) || attempt == maxReverts {
			return plan.result(), err
		}
		if entries, err = c.revertible(sel); err != nil {
			return Reverted{}, err
		}
	}
}

// revertEach puts one entry back after the other, as if each had been asked for. One
// set cannot do everything: what moves cannot also change inside. When one fails,
// those before it are put back in turn, so that nothing was done.
func (c *Committer) revertEach(ctx context.Context, entries []journal.Entry, others map[string]bool, origin journal.Origin) (Reverted, error) {
	all := &reversal{fates: map[string]reversedFile{}, blocked: others}
	for len(entries) > 0 {
		n := 1 // a move by itself
		for ; n < len(entries) && !moves(entries[0]) && !moves(entries[n]); n++ {
		}
		group := entries[:n]
		entries = entries[n:]
		var plan *reversal
		var err error
		for attempt := 0; ; attempt++ {
			plan, err = c.revertOnce(ctx, group, all.blocked, origin, false)
			if !errors.Is(err, ErrMoved) || attempt == maxReverts {
				break
			}
		}
		if err != nil {
			return Reverted{}, c.takeBackRevert(ctx, origin, err)
		}
		for _, name := range plan.order {
			all.settle(name, plan.fates[name])
		}
		all.preview = append(all.preview, plan.preview...)
		all.callID = cmp.Or(all.callID, plan.callID)
	}
	return all.result(), nil
}

// hasMade reports whether a revert is in the journal.
func (c *Committer) hasMade(origin journal.Origin) bool {
	made, err := c.revertible(Selection{CallID: origin.CallID})
	return err != nil || len(made) > 0
}

// takeBackRevert puts back what a revert that failed had put back already.
func (c *Committer) takeBackRevert(ctx context.Context, origin journal.Origin, why error) error {
	if !c.hasMade(origin) {
		return why
	}
	back := origin
	back.CallID += "-taken-back"
	r, err := c.Revert(context.WithoutCancel(ctx), Selection{CallID: origin.CallID}, back, false)
	if err == nil && len(r.Conflicts) > 0 {
		err = fault.New(fault.ConcurrentModification, "%s: %s", fault.Quote(r.Conflicts[0]), r.Reasons[r.Conflicts[0]])
	}
	if err != nil {
		return &halfMade{fault.New(fault.CodeOf(why), "%v; a part of it stays reverted: %v", why, err)}
	}
	return why
}

// maxReverts bounds the race with somebody who changes the files all the time.
const maxReverts = 5

func (c *Committer) revertOnce(ctx context.Context, entries []journal.Entry, blocked map[string]bool, origin journal.Origin, dry bool) (*reversal, error) {
	plan, err := c.planReversal(entries, blocked)
	defer plan.close()
	if err != nil {
		return plan, err
	}
	plan.preview = plan.set.Preview()
	if dry || len(plan.done) == 0 {
		return plan, nil
	}
	back := plan.entries()
	ids := make([]string, 0, len(back))
	for _, e := range back {
		ids = append(ids, e.ID)
	}
	origin.Title = cmp.Or(origin.Title, titleOf(back))
	if origin.Reverts = strings.Join(ids, " "); plan.set.Changes() {
		if _, err := c.Commit(ctx, plan.set, origin); err != nil {
			return &reversal{}, err
		}
		plan.callID = origin.CallID
	}
	c.markReverted(plan)
	return plan, nil
}

const (
	revertTitle = "Revert: "
	againTitle  = "Bring back: "
)

// titleOf says what putting these back is. What goes to and fro does not become longer.
func titleOf(back []journal.Entry) string {
	first := back[0]
	switch {
	case slices.ContainsFunc(back, func(e journal.Entry) bool { return e.Agent != first.Agent }):
		return fmt.Sprintf("Revert %d changes", len(back))
	case len(back) > 1:
		return fmt.Sprintf("Revert %d changes by %s", len(back), first.Agent)
	}
	title := cmp.Or(first.Title, first.Tool)
	if first.Reverts == "" {
		return revertTitle + title
	}
	if was, is := strings.CutPrefix(title, revertTitle); is {
		return againTitle + was
	}
	return revertTitle + strings.TrimPrefix(title, againTitle)
}

// markReverted notes on each entry what of it was put back. An entry that was itself
// a revert gives back to those that it had put back.
func (c *Committer) markReverted(plan *reversal) {
	back := map[string][]string{}
	for _, d := range plan.done {
		back[d.entry.ID] = append(back[d.entry.ID], d.record.Path)
	}
	for _, e := range plan.entries() {
		e.State = journal.StateReverted
		for _, r := range e.Records {
			if !e.Reverted[r.Path] && !slices.Contains(back[e.ID], r.Path) {
				e.State = journal.StatePartlyReverted
			}
		}
		c.Journal.Store.Mark(e.ID, e.State, "", back[e.ID], nil) //nolint:errcheck // it is found to be as it was when it is put back again
		c.notifyChanged(e, nil, nil)
		if e.Reverts != "" {
			c.markRestored(strings.Fields(e.Reverts), back[e.ID])
		}
	}
}

func (c *Committer) markRestored(ids, paths []string) {
	entries, err := c.Journal.Store.Entries(journal.Query{Wants: func(e *journal.Entry) bool { return slices.Contains(ids, e.ID) }})
	if err != nil {
		return
	}
	for _, e := range entries {
		left, paths := len(e.Reverted), slices.Clone(paths)
		for _, r := range e.Records {
			if r.Operation == string(Move) && slices.Contains(paths, r.To) {
				paths = append(paths, r.Path) // what was put back stood there
			}
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		for _, p := range paths {
			if e.Reverted[p] {
				left--
			}
		}
		e.State = journal.StateDone
		if left > 0 {
			e.State = journal.StatePartlyReverted
		}
		c.Journal.Store.Mark(e.ID, e.State, "", nil, paths) //nolint:errcheck // see markReverted
		c.notifyChanged(e, nil, nil)
	}
}
