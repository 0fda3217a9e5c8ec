package tools

import (
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
			all = p.registry.Guarded()
		}
		if !p.settings.Memory.IsZero() {
			all = append(all, workspace.Guarded{Path: p.settings.Memory.Abs(), Effect: policy.SteersAgents})
		}
		p.guards = workspace.NewGuards(all)
	}
	return p.guards
}

// protectedIn lists what in a folder of the workspace is closed to commands.
func (p *pending) protectedIn(root workspace.Path) []string {
	return append(p.registry.protected.in(root), p.guardedPlaces().In(process.Resolve(root.Abs()))...)
}
