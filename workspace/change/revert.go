package change

import (
	"context"
	"errors"
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
// only says what would happen.
func (c *Committer) Revert(ctx context.Context, sel Selection, origin journal.Origin, dry bool) (Reverted, error) {
	if c.Journal == nil {
		return Reverted{}, fault.New(fault.ExecutionFailed, "there is no journal, so nothing can be put back")
	}
	for attempt := 0; ; attempt++ {
		r, err := c.revertOnce(ctx, sel, origin, dry)
		if !errors.Is(err, ErrMoved) || attempt == maxReverts {
			return r, err
		}
	}
}

// maxReverts bounds the race with somebody who changes the files all the time.
const maxReverts = 5

func (c *Committer) revertOnce(ctx context.Context, sel Selection, origin journal.Origin, dry bool) (Reverted, error) {
	entries, err := c.entries(sel, 0)
	if err != nil {
		return Reverted{}, fault.New(fault.ExecutionFailed, "the journal cannot be read: %v", err)
	}
	entries = slices.DeleteFunc(entries, func(e journal.Entry) bool {
		return e.State == journal.StateReverted || e.State == journal.StateUndone
	})
	plan, err := c.planReversal(entries)
	defer plan.close()
	if err != nil {
		return Reverted{}, err
	}
	out := plan.result()
	out.Preview = plan.set.Preview()
	if dry || len(plan.done) == 0 {
		return out, nil
	}
	ids := make([]string, 0, len(plan.done))
	for _, d := range plan.done {
		if id := d.entry.ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if origin.Reverts = strings.Join(ids, " "); plan.set.Changes() {
		if _, err := c.Commit(ctx, plan.set, origin); err != nil {
			return Reverted{}, err
		}
		out.CallID = origin.CallID
	}
	c.markReverted(plan)
	return out, nil
}

// markReverted notes on each entry what of it was put back. An entry that was itself
// a revert gives back to those that it had put back.
func (c *Committer) markReverted(plan *reversal) {
	back := map[string][]string{}
	for _, d := range plan.done {
		back[d.entry.ID] = append(back[d.entry.ID], d.record.Path)
	}
	told := map[string]bool{}
	for _, d := range plan.done {
		e := d.entry
		if told[e.ID] {
			continue
		}
		told[e.ID] = true
		e.State = journal.StateReverted
		for _, r := range e.Records {
			if !e.Reverted[r.Path] && !slices.Contains(back[e.ID], r.Path) {
				e.State = journal.StatePartlyReverted
			}
		}
		c.Journal.Store.Mark(e.ID, e.State, "", back[e.ID], nil) //nolint:errcheck // it is found to be as it was when it is put back again
		c.tell(e, nil, nil)
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
		left := len(e.Reverted)
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
		c.tell(e, nil, nil)
	}
}
