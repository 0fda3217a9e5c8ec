package tools

import (
	"context"
	"strings"
)

// goesOn is what the journal does not have of a process.
const goesOn = "what it changes from now on is not in the journal"

// unkeptResult is what the results of commands may have beside their own fields.
type unkeptResult struct {
	NotInJournal string `json:"not_in_journal,omitempty"`
}

// observe has the journal keep what a command changes, and the answer say what of it the
// journal does not have.
func (p *pending) observe(ctx context.Context) (end func(*Answer)) {
	observed := p.registry.Committer.Observe(ctx)
	return func(a *Answer) {
		unkept := observed.End(ctx, p.origin())
		if a == nil || observed == nil {
			return
		}
		if a.goesOn {
			unkept = strings.TrimPrefix(unkept+"; "+goesOn, "; ")
		}
		if a.unkept = unkept; unkept != "" {
			a.Notes = append(a.Notes, "("+unkept+")")
			a.Summary += "; " + unkept
		}
	}
}
