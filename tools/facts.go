package tools

import (
	"errors"
	"path/filepath"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/git"
)

// policyRequest gathers what policy looks at: facts about paths that only the
// workspace can tell, and what the session was granted.
func (p *pending) policyRequest() (policy.Request, error) {
	r := policy.Request{
		Tool:      p.tool.Name,
		Access:    p.tool.Access,
		Mode:      p.call.Session.Mode(),
		Grants:    p.call.Session.Grants(),
		Once:      p.call.Session.GrantedOnce(),
		AlwaysAsk: p.alwaysAsks(),
		InDraft:   p.registry.IsDraft,
	}
	switch plan := p.plan.(type) {
	case *Answer:
		if plan.Keeps != nil {
			break // what is refused for the whole is refused for a chunk
		}
		r.Access = policy.Read // whatever the tool could do, this plan only looks
		r.Shows = plan.Err != nil && p.tool.Access == policy.Edit
	case *Action:
		r.Command, r.Covered, r.Host = p.commandFacts(plan.Command), plan.Covered, plan.Host
		r.Subject, r.Theirs, r.Definition = plan.Subject, plan.Theirs, plan.Definition
		if r.Command != nil {
			r.Box, r.Layer = p.openBox(plan, r.Command)
		}
		if plan.Skill {
			r.Access = policy.Skill
		}
	}
	all := resolveTouches(p.plan.touches())
	aims := slices.DeleteFunc(slices.Clone(all), resolvedTouch.isElsewhere)
	var written []workspace.Path
	for _, a := range aims {
		if a.write && a.err == nil {
			written = append(written, a.target)
		}
	}
	after := p.layoutWith(written...)
	for _, a := range all {
		if a.isElsewhere() {
			r.Paths = append(r.Paths, p.factElsewhere(a))
			continue
		}
		fact, err := p.factOf(a, after)
		if err != nil {
			return r, err
		}
		r.Paths = append(r.Paths, fact)
	}
	r.Keys = p.keysIn()
	p.site = p.siteOf(r.Command, aims)
	switch open := p.registry.Documents.Workspace().Roots(); {
	case r.Definition != "" && len(open) == 1:
		p.site.roots = open // the folder that a rule can be remembered for
	case writesByAnother(p.plan):
		p.site.roots = open // what is written is of a repository, which may be that of several folders
	}
	r.Rules = p.rules(p.site)
	return r, nil
}

// openBox says whether the command can run in the box, or in that with layers, and has that ready.
func (p *pending) openBox(plan *Action, c *policy.Command) (box, layer bool) {
	s := p.settings.Sandbox
	looks, apart := c.LooksOnly()
	mode := p.call.Session.Mode()
	layer = (plan.Layered && mode == policy.Auto || p.registry.IsDraft) && !looks
	if s.Box == nil || !layer && !(plan.Boxed && looks) {
		return false, false
	}
	var folders, repositories []string
	runsGit := !apart && slices.Contains(policy.ReadCommand(c.Line).Programs(), "git")
	for _, root := range p.registry.Documents.Workspace().Roots() {
		if folders = append(folders, root.Abs()); runsGit {
			repositories = append(repositories, git.Repositories(root.Abs())...)
		}
	}
	var ok bool
	if p.box, ok = s.Box(process.Box{Folders: folders, Git: runsGit || layer, Writes: layer, Layered: layer && !p.registry.IsDraft}); !ok {
		return false, false
	}
	p.box.ReadOnly = append(p.box.ReadOnly, repositories...)
	p.box.Session, p.box.Hidden = p.call.Session.ID(), append(p.box.Hidden, s.Hidden...)
	if layer {
		var protected []string
		for _, root := range p.registry.Documents.Workspace().Roots() {
			protected = append(protected, p.protectedIn(root)...)
		}
		p.box.ReadOnly = append(p.box.ReadOnly, Shallowest(protected)...)
	}
	return !layer, layer
}

// boxed is the box, where the call is to run in it.
func (p *pending) boxed() *process.Confine {
	if !p.decision.Box {
		return nil
	}
	return &p.box
}

// resolvedTouch is a touch, and where its path leads now.
type resolvedTouch struct {
	touch
	target workspace.Path
	err    error // it leads nowhere in the workspace
}

func (t resolvedTouch) isElsewhere() bool { return t.elsewhere != "" }

func resolveTouches(touches []touch) []resolvedTouch {
	out := make([]resolvedTouch, len(touches))
	for i, t := range touches {
		out[i] = resolveTouch(t)
	}
	return out
}

func resolveTouch(t touch) resolvedTouch {
	if t.entry != nil {
		return resolvedTouch{t, t.entry.at, nil}
	}
	target, err := t.path.Target()
	return resolvedTouch{t, target, err}
}

// factOf is what is known of where a touch leads, in the workspace and on this machine.
func (p *pending) factOf(t resolvedTouch, after workspace.Layout) (policy.PathFact, error) {
	fact, err := factOf(t)
	if err == nil && fact.Write {
		if p.tops == nil {
			p.tops = map[string]string{}
		}
		if _, known := p.tops[fact.Root]; !known {
			p.tops[fact.Root] = git.Top(fact.Root)
		}
		fact.Top = p.tops[fact.Root]
		fact.BareRepository = after.InRepository(t.target) || after.IsRead(t.path, t.target) || t.entry != nil && t.entry.mode.IsDir() && after.IsRepository(t.target)
		fact.Guarded = p.guardedPlaces().Effect(t.path.Abs())
		if fact.Guarded == "" && fact.LinkTarget != "" {
			fact.Guarded = p.guardedPlaces().Effect(filepath.Join(t.path.RootDir(), filepath.FromSlash(fact.LinkTarget)))
		}
	}
	return fact, err
}

// factElsewhere is what is known of a file in no open folder. Its name is the whole one, which rules have to give.
func (p *pending) factElsewhere(t resolvedTouch) policy.PathFact {
	return policy.PathFact{
		Path: filepath.ToSlash(t.elsewhere), Write: true, Apart: true, MadeExecutable: t.entry.made, MadeLink: t.entry.link, Gone: t.entry.gone,
		Guarded: p.guardedPlaces().Effect(t.elsewhere),
	}
}

func factOf(t resolvedTouch) (policy.PathFact, error) {
	if t.entry != nil {
		return t.entry.fact(t.path), nil
	}
	target, err := t.target, t.err
	if err != nil && t.tracked {
		target, err = t.path, nil
	}
	if err != nil {
		return policy.PathFact{}, err
	}
	fact := policy.PathFact{
		Path:           t.path.Rel(),
		Write:          t.write,
		Root:           t.path.RootDir(),
		MadeExecutable: t.executable,
		Apart:          t.path.IsApart(),
	}
	if t.path.String() != t.path.Rel() {
		fact.Folder = folderName(t.path)
	}
	if target != t.path {
		fact.LinkTarget = target.Rel()
	}
	if t.file != nil && t.file.Exists {
		fact.Executable = t.file.Mode.IsRegular() && t.file.Mode&0o111 != 0
		fact.LosesOwner = t.file.LosesOwner
		fact.HardLinks, fact.InEditor = t.file.HardLinks, t.file.Source == document.FromBuffer
		fact.ReadOnly = t.file.ReadOnly || t.file.Buffer != nil && t.file.Buffer.ReadOnly
	}
	return fact, nil
}

// IsSecret says whether reading p has to be asked for.
func IsSecret(p workspace.Path) bool {
	target, err := p.Target()
	return IsNamedSecret(p) || err == nil && IsNamedSecret(target)
}

// IsNamedSecret says it of the name alone, whatever links there are.
func IsNamedSecret(p workspace.Path) bool { return policy.Secret(p.RootDir() + "/" + p.Rel()) }

// SeenVersion is the version of p that the session knows, under whatever name it read it.
func SeenVersion(s *session.Session, p workspace.Path) (version string, ok bool) {
	return s.Seen(FileName(p))
}

// FileName is one name for one file: links to it lead to the same.
func FileName(p workspace.Path) string {
	if target, err := p.Target(); err == nil {
		return target.Abs()
	}
	return p.Abs()
}

// folderName is the name that a path of a multi-root workspace is led by.
func folderName(p workspace.Path) string {
	for !p.IsRoot() {
		p = p.Dir()
	}
	return p.String()
}

// layoutWith is the layout with these paths made. It knows also where links in such folders lead, and their files commondir: what is there makes a
// repository as well.
func (p *pending) layoutWith(paths ...workspace.Path) workspace.Layout {
	out := workspace.NewLayout(paths...)
	if len(paths) == 0 { // nothing is to be written
		return out
	}
	p.guardedPlaces()
	var read []workspace.Guarded
	for _, part := range p.parts {
		for _, dir := range []string{filepath.Dir(part), filepath.Dir(filepath.Dir(part))} { // as of config and hooks/pre-commit
			if at, inside := p.registry.Documents.Workspace().Place(dir); !inside || !out.IsRepository(at) {
				continue
			}
			for _, path := range append(git.ReadIn(dir), part) {
				read = append(read, workspace.Guarded{Path: path, Effect: "git reads it"})
			}
		}
	}
	out.Read = workspace.NewGuards(read)
	return out
}

// errOnlyGit is in the refusal of what policy would have refused, had there been a plan.
var errOnlyGit = errors.New("only git may change")

// RefuseGits refuses what belongs to a repository itself before anything is said of
// what stands there. Policy judges the plan once more, link targets and folders' contents
// included; a call without a plan, such as a dry run, ends here.
func RefuseGits(paths ...workspace.Path) error {
	after := workspace.NewLayout(paths...)
	for _, p := range paths {
		if _, denied := policy.Protected(p.String()); denied || after.InRepository(p) {
			return fault.New(fault.PolicyDenied, "%s belongs to a git repository itself, which %w", fault.Quote(p.String()), errOnlyGit).
				WithHint("do it another way, or ask the user to do it")
		}
	}
	return nil
}

// guardedPlaces are what on this machine a person has to approve changes of, wherever in the
// workspace it turns out to be.
func (p *pending) guardedPlaces() *workspace.GuardFinder {
	if p.guards == nil {
		var all []workspace.Guarded
		if p.registry.Guarded != nil {
			all = p.registry.Guarded(p.written())
		}
		if !p.settings.Memory.IsZero() {
			all = append(all, workspace.Guarded{Path: p.settings.Memory.Abs(), Effect: policy.SteersAgents})
		}
		p.parts = nil
		all = slices.DeleteFunc(all, func(one workspace.Guarded) bool {
			if one.IsPart {
				p.parts = append(p.parts, one.Path)
			}
			return one.IsPart
		})
		p.guards = workspace.NewGuards(all).Finder()
	}
	return p.guards
}

// written are the folders of what the plan writes.
func (p *pending) written() (dirs []string) {
	if p.plan == nil {
		return nil
	}
	known := map[workspace.Path]bool{}
	for _, t := range resolveTouches(p.plan.touches()) {
		if !t.write || t.err != nil || t.isElsewhere() || known[t.target.Dir()] {
			continue
		}
		known[t.target.Dir()] = true
		dirs = append(dirs, process.Resolve(t.target.Dir().Abs()))
	}
	return dirs
}

// deniesSkill says that the settings deny a skill, or the tool.
func (p *pending) deniesSkill(name string) bool {
	d := policy.Decide(policy.Request{Tool: p.tool.Name, Access: policy.Skill, Mode: policy.FullAccess, Subject: name, Rules: p.rules(site{})})
	return d.Verdict == policy.Refuse
}

// CheckReadable says whether a file's text may be shown that nobody named: not that of one
// which looks like a secret and which this session has not read.
func (in Input) CheckReadable(p workspace.Path) error {
	if !IsSecret(p) {
		return nil
	}
	if _, known := SeenVersion(in.Session, p); known {
		return nil
	}
	return fault.New(fault.PermissionDenied, "%s looks like a file with secrets", fault.Quote(p.String())).
		WithHint("read_file asks the user")
}

// protectedIn lists what in a folder of the workspace is closed to commands.
func (p *pending) protectedIn(root workspace.Path) []string {
	if policy.EffectAt(root.RootDir(), git.Top(root.RootDir()), "x") != "" {
		return []string{root.Abs()}
	}
	return append(p.registry.protected.in(root), p.guardedPlaces().Guards.In(process.Resolve(root.Abs()))...)
}
