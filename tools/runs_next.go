package tools

import (
	"strings"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace/change"
)

// noteNext marks a change of what the user's own next command runs, first in its line of
// the list of activity: lists are narrow.
func (p *pending) noteNext(a *Answer) {
	var names, clauses []string
	for _, o := range p.outcomes {
		if o.Operation == change.Unchanged {
			continue
		}
		name := changedName(o)
		if clause := policy.RunsNext(name); clause != "" {
			names, clauses = append(names, fault.Quote(name)+" "+clause), append(clauses, clause)
		}
	}
	switch {
	case len(names) == 0 || a.Err != nil:
	case len(p.outcomes) == 1: // the summary names the file
		a.Summary = clauses[0] + ": " + a.Summary
	case len(names) > mostNextNamed:
		a.Summary = count(len(names), "file") + " run with your next commands: " + a.Summary
	default:
		a.Summary = strings.Join(names, ", ") + ": " + a.Summary
	}
}

const mostNextNamed = 2

// changedName is the name that a file has now.
func changedName(o change.Outcome) string {
	switch {
	case o.Tree == nil:
		return o.File.Path().String()
	case o.Tree.Operation == change.Move:
		return o.Tree.To.String()
	}
	return o.Tree.Path.String()
}
