package tools

import (
	"errors"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/patch"
)

// errOnlyGit is in the refusal of what policy would have refused, had there been a plan.
var errOnlyGit = errors.New("only git may change")

// checkNotGits refuses what belongs to a repository itself before anything is said of
// what stands there. Policy judges the plan once more, link targets and folders' contents
// included; a call without a plan, such as a dry run, ends here.
func checkNotGits(paths ...workspace.Path) error {
	for _, p := range paths {
		if _, denied := policy.Protected(p.String()); denied || inBareRepository(p) {
			return fault.New(fault.PolicyDenied, "%s belongs to a git repository itself, which %w", fault.Quote(p.String()), errOnlyGit).
				WithHint("do it another way, or ask the human to do it")
		}
	}
	return nil
}

// checkNotGits looks at the names that a file of the patch changes. What a copy comes
// from is only read.
func (p *patching) checkNotGits(f patch.File) error {
	names := []string{p.existing(f)}
	switch f.Operation {
	case patch.Copy:
		names = []string{f.New}
	case patch.Rename:
		names = append(names, f.New)
	}
	for _, name := range names {
		target, err := p.resolve(name)
		if err != nil {
			continue // open says why
		}
		path, err := p.in.Snapshot.Workspace().Resolve(name)
		if err != nil {
			continue
		}
		if err := checkNotGits(path, target); err != nil {
			return err
		}
	}
	return nil
}
