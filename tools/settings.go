package tools

import (
	"slices"

	"pillion/internal/web"
	"pillion/tools/policy"
	"pillion/tools/skills"
	"pillion/workspace"
)

// Settings are what the settings say at one moment.
type Settings struct {
	Rules policy.Rules // in every folder
	// Folders are each folder's own rules, by its real path, written as if it were
	// open by itself. They hold for what lies in it, and nowhere else.
	Folders map[string]policy.Rules
	Limits  Limits
	// Allowed are the lists of tools that are on: a tool is on that all lists name which
	// fit the agent.
	Allowed []Allowed
	// Revision is another one whenever anything of it is.
	Revision int
	Sandbox  Sandbox // the zero value: there is none
	// Memory is the file of what agents are to remember; the zero Path: PILLION.md in the
	// first folder.
	Memory workspace.Path
	// Skills reads the user's own ones, outside of the workspace, or the ones of one name.
	// Nil: there are none.
	Skills func(only string) []skills.Skill
	// Search is where to search the web.
	Search web.Search
	// PrivateHosts may be fetched from though their addresses are private.
	PrivateHosts []string
	Runners      map[string]Runner // of task, by name
}

// settle looks at what the settings say now: a plan is made and judged by that.
func (p *pending) settle() {
	p.settings = p.registry.Settings()
	if now := p.registry.limits.Load(); now == nil || *now != p.settings.Limits {
		limits := p.settings.Limits // not those in p, which is written to while others read them
		p.registry.limits.Store(&limits)
	}
}

// site is where a plan would act, for rules that hold in one folder alone.
type site struct {
	roots   []workspace.Path // none: it acts in no folder
	command bool
}

func (p *pending) siteOf(command *policy.Command, aims []resolvedTouch) site {
	out := site{command: command != nil}
	add := func(path workspace.Path) {
		if path.IsApart() {
			return // it is in no folder, so the rules of all hold
		}
		for !path.IsRoot() {
			path = path.Dir()
		}
		if !slices.Contains(out.roots, path) {
			out.roots = append(out.roots, path)
		}
	}
	if command != nil {
		open := p.registry.Documents.Workspace()
		if dir, err := open.ResolveDir(command.Cwd); err == nil {
			add(dir)
		}
		for _, root := range open.Roots() {
			if command.Names(root.RootDir()) {
				add(root)
			}
		}
	}
	for _, a := range aims {
		add(a.path)
		if a.err == nil {
			add(a.target)
		}
	}
	return out
}

// rules are those that hold for a plan: the ones of every folder, and of the folders
// that it touches. What these allow holds only for what stays in one of them.
func (p *pending) rules(at site) policy.Rules {
	open := p.registry.Documents.Workspace().Roots()
	rules := p.settings.Rules
	for _, root := range open {
		own, ok := p.settings.Folders[root.RootDir()]
		if !ok || len(at.roots) > 0 && !slices.Contains(at.roots, root) {
			continue
		}
		name := ""
		if len(at.roots) > 0 {
			name = nameOf(root)
		}
		rules.Deny = slices.Concat(rules.Deny, inFolder(own.Deny, name, at.command, true))
		rules.Ask = slices.Concat(rules.Ask, inFolder(own.Ask, name, at.command, true))
		if len(at.roots) == 1 || len(open) == 1 {
			rules.Allow = slices.Concat(rules.Allow, inFolder(own.Allow, name, at.command, false))
		}
	}
	return rules
}

func inFolder(rules []policy.Rule, name string, command, restricts bool) []policy.Rule {
	out := make([]policy.Rule, 0, len(rules))
	for _, r := range rules {
		out = append(out, r.In(name, command, restricts))
	}
	return out
}

// nameOf is what leads the paths of a folder, "" where it is the only one.
func nameOf(root workspace.Path) string {
	if name := root.String(); name != root.Rel() {
		return name
	}
	return ""
}

// keepable takes away the offers to remember a rule beyond the session, where there
// is no one folder to remember it for, and all of them for what nobody can check.
func (p *pending) keepable(offers []policy.Offer) []policy.Offer {
	if p.tool.PartOf != "" {
		return nil
	}
	if p.registry.Remember != nil && len(p.site.roots) == 1 {
		return offers
	}
	return slices.DeleteFunc(slices.Clone(offers), func(o policy.Offer) bool { return o.Scope == offerWorkspace })
}

const offerWorkspace = "workspace"

// rememberHere keeps a rule for the folder that the plan acts in. It reports false
// where it cannot be kept.
func (p *pending) rememberHere(rule policy.Rule) bool {
	at := p.site
	if len(at.roots) != 1 || p.registry.Remember == nil {
		return false
	}
	own, ok := rule.Out(nameOf(at.roots[0]), at.command)
	return ok && p.registry.Remember(at.roots[0].RootDir(), own) == nil
}
