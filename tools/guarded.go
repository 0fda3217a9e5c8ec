package tools

import (
	"slices"

	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
)

// guardedPlaces are what on this machine a person has to approve changes of, wherever in the
// workspace it turns out to be.
func (p *pending) guardedPlaces() workspace.Guards {
	if p.guards == nil {
		var all []workspace.Guarded
		if p.registry.Guarded != nil {
			all = p.registry.Guarded(p.written())
		}
		if !p.settings.Memory.IsZero() {
			all = append(all, workspace.Guarded{Path: p.settings.Memory.Abs(), Effect: policy.SteersAgents})
		}
		p.guards = workspace.NewGuards(all)
	}
	return p.guards
}

// written are the folders of what the plan writes.
func (p *pending) written() (dirs []string) {
	if p.plan == nil {
		return nil
	}
	for _, t := range resolveTouches(p.plan.touches()) {
		if dir := process.Resolve(t.target.Dir().Abs()); t.write && t.err == nil && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// protectedIn lists what in a folder of the workspace is closed to commands.
func (p *pending) protectedIn(root workspace.Path) []string {
	return append(p.registry.protected.in(root), p.guardedPlaces().In(process.Resolve(root.Abs()))...)
}
