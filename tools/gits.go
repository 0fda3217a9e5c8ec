package tools

import (
	"errors"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
)

// errOnlyGit is in the refusal of what policy would have refused, had there been a plan.
var errOnlyGit = errors.New("only git may change")

// checkNotGits refuses what belongs to a repository itself before anything is said of
// what stands there. Policy judges the plan once more, link targets and folders' contents
// included; a call without a plan, such as a dry run, ends here.
func checkNotGits(paths ...workspace.Path) error {
	after := layoutWith(paths...)
	for _, p := range paths {
		if _, denied := policy.Protected(p.String()); denied || after.inRepository(p) {
			return fault.New(fault.PolicyDenied, "%s belongs to a git repository itself, which %w", fault.Quote(p.String()), errOnlyGit).
				WithHint("do it another way, or ask the user to do it")
		}
	}
	return nil
}
