package tools

import (
	"path"

	"pillion/tools/policy"
	"pillion/workspace"
)

// policyRequest gathers what policy looks at: facts about paths that only the
// workspace can tell, and what the session was granted.
func (p *pending) policyRequest() (policy.Request, error) {
	r := policy.Request{
		Tool:      p.tool.Name,
		Access:    p.tool.Access,
		Mode:      p.call.Session.Mode(),
		Rules:     p.registry.Rules(),
		Grants:    p.call.Session.Grants(),
		AlwaysAsk: p.call.RequiresApproval,
	}
	if action, ok := p.plan.(*Action); ok {
		r.Command = action.Command
	}
	for _, t := range p.plan.touches() {
		fact, err := factOf(t)
		if err != nil {
			return r, err
		}
		r.Paths = append(r.Paths, fact)
	}
	return r, nil
}

func factOf(t touch) (policy.PathFact, error) {
	target, err := t.path.Target()
	if err != nil {
		return policy.PathFact{}, err
	}
	fact := policy.PathFact{
		Path:           t.path.Rel(),
		Write:          t.write,
		Root:           t.path.RootDir(),
		BareRepository: inBareRepository(target),
	}
	if t.path.String() != t.path.Rel() {
		fact.Folder = folderName(t.path)
	}
	if target != t.path {
		fact.LinkTarget = target.Rel()
	}
	if t.file != nil && t.file.Exists {
		fact.Executable = t.file.Mode.IsRegular() && t.file.Mode&0o111 != 0
	}
	return fact, nil
}

// folderName is the name that a path of a multi-root workspace is led by.
func folderName(p workspace.Path) string {
	for !p.IsRoot() {
		p = p.Dir()
	}
	return p.String()
}

// inBareRepository looks for a folder above p that git would take for a
// repository: hooks and configuration in it run programs.
func inBareRepository(p workspace.Path) bool {
	for dir := p.Dir(); ; dir = dir.Dir() {
		if isBareRepository(dir) {
			return true
		}
		if dir.IsRoot() {
			return false
		}
	}
}

func isBareRepository(dir workspace.Path) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := dir.Join(path.Clean(name)).Lstat(); err != nil {
			return false
		}
	}
	return true
}
