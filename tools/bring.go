package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/git"
	"pillion/workspace/layer"
)

// layer puts layers over the workspace, where the call is to run in them. At its end what is in them is one change of the
// workspace, but for what an edit would ask about.
func (p *pending) layer() func(*process.Confine) (func(context.Context, *Answer), error) {
	if !p.decision.Layer || p.registry.IsDraft {
		return nil
	}
	return func(held *process.Confine) (func(context.Context, *Answer), error) {
		layers, remove, ok := p.settings.Sandbox.Layers(held.Writable)
		if !ok {
			return nil, fault.New(fault.ExecutionFailed, "the box cannot be made any more; nothing was run").WithHint("ask the user to choose the mode auto_edit, in which they are asked about commands")
		}
		held.Layers = layers
		b := layer.Bringing{Began: layer.Made(layers[0].Changes), Label: p.title(), Judge: p.judgeBrought, IsBuilt: p.isBuilt, Stood: held.Seen.Stood}
		for _, l := range layers {
			b.Layers = append(b.Layers, layer.Layer{Folder: l.Folder, Changes: l.Changes})
		}
		return func(ctx context.Context, a *Answer) {
			defer remove()
			if a != nil { // else the command did not run, or was stopped
				p.bring(ctx, b, a)
			}
		}, nil
	}
}

func (p *pending) bring(ctx context.Context, b layer.Bringing, a *Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(p.timeout(), p.settings.Limits.CommandTime))
	defer cancel()
	var left []layer.Left
	not := func(path string, why error) {
		left = append(left, layer.Left{Path: path, Reason: fault.From(why).Message})
	}
	for range maxReplans {
		if mode := p.call.Session.Mode(); mode.Stricter(policy.Auto) || paused(p.call.Session) != nil {
			not(".", fault.New(fault.Cancelled, "the session is paused, or its mode became %s meanwhile", mode))
			break
		}
		p.snapshot, p.tracked = p.takeSnapshot(), nil
		set, without, err := b.Set(ctx, p.snapshot)
		left = without
		if err == nil && set.Changes() {
			p.outcomes, err = p.registry.Committer.Commit(ctx, set, p.origin())
			p.outcomes = slices.DeleteFunc(p.outcomes, func(o change.Outcome) bool { return o.Tree == nil && o.File.Before == nil }) // links
		}
		if err == nil {
			p.registry.Committer.MoveIn(ctx, set.Bulk, func(at workspace.Path, why error) { not(at.String(), why) })
			break
		}
		not(".", err)
		if !errors.Is(err, change.ErrMoved) {
			break
		}
	}
	const mostNamed = 500
	if more := len(left) - mostNamed; more > 0 {
		left = append(left[:mostNamed], layer.Left{Path: ".", Reason: fmt.Sprintf("there are %d more", more)})
	}
	if a.NotBrought = left; len(left) == 0 {
		return
	}
	const most = 10
	var names []string
	for _, one := range left[:min(most, len(left))] {
		names = append(names, fault.Quote(one.Path)+" ("+one.Reason+")")
	}
	if more := len(left) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	a.Notes = append(a.Notes, "(nobody was asked about this command, and of what it changed these are as they were: "+strings.Join(names, ", ")+")")
	a.Summary += fmt.Sprintf("; %s as before", Count(len(left), "path"))
}

// judgeBrought finds what an edit would ask about more than once in a session.
func (p *pending) judgeBrought(all []layer.Placed) func(layer.Placed) (string, error) {
	judge := p.judgeOf(all)
	return func(c layer.Placed) (string, error) {
		d, err := judge(c)
		if err != nil || d.Verdict == policy.Run || len(d.OncePerSession) > 0 {
			return "", err
		}
		return d.Why(), nil
	}
}

// judgeOf judges what is in a layer as edits of the workspace, and what goes with all that is in it.
func (p *pending) judgeOf(all []layer.Placed) func(layer.Placed) (policy.Decision, error) {
	written := make([]workspace.Path, 0, len(all))
	p.brought = nil
	for _, c := range all {
		written = append(written, c.Path)
		if dir := c.Path.Dir().Abs(); !c.Built && !slices.Contains(p.brought, dir) {
			p.brought = append(p.brought, dir)
		}
	}
	p.guards = nil
	after := p.layoutWith(written...)
	rules := map[string]policy.Rules{}
	return func(c layer.Placed) (policy.Decision, error) {
		r := policy.Request{Tool: p.tool.Name, Access: policy.Edit, Mode: policy.AutoEdit}
		touches, err := p.broughtTouches(c)
		if err != nil {
			return policy.Decision{}, err
		}
		if c.Is == nil {
			r.Tool = "delete_file"
		}
		for _, t := range touches {
			fact, err := p.factOf(resolveTouch(t), after)
			if err != nil {
				return policy.Decision{}, err
			}
			if (fact.Executable || fact.MadeExecutable) && (c.Built || p.isMade(t.path)) {
				fact.Executable, fact.MadeExecutable = false, false
			}
			if c.Built {
				fact.HardLinks = 0 // the others keep what they are
			}
			r.Paths = append(r.Paths, fact)
		}
		known, ok := rules[c.Path.RootDir()]
		if !ok {
			known = p.rules(p.siteOf(nil, []resolvedTouch{{touch: touch{path: c.Path}, target: c.Path}}))
			rules[c.Path.RootDir()] = known
		}
		r.Rules = known
		return policy.Decide(r), nil
	}
}

// broughtTouches are what a change is about: of a folder that goes all that is in it.
func (p *pending) broughtTouches(c layer.Placed) ([]touch, error) {
	if c.Is == nil && c.Was.IsDir() && !c.Built {
		tree, err := c.Path.Tree()
		return entriesOf(tree, c.Path, c.Path), err
	}
	w := Written{Path: c.Path, Abs: c.Path.Abs(), New: c.Was == nil, Deleted: c.Is == nil}
	if c.Is != nil && c.Was != nil {
		w.MadeExecutable = c.Is.Mode().IsRegular() && change.IsExecutable(c.Is.Mode()) && !change.IsExecutable(c.Was.Mode())
	}
	if c.Is != nil && c.Is.Mode()&fs.ModeSymlink != 0 {
		below, inside := c.Leads()
		at := c.Path.RootDir()
		switch {
		case inside:
			w.MadeLink = policy.EffectAt(at, git.Top(at), below) != "" || policy.Secret(at+"/"+below)
		default: // a virtual environment has links to the programs that it is made with
			w.MadeLink = !c.Built || !process.IsProgram(way.Join(filepath.Dir(c.Path.Abs()), c.Link))
		}
	}
	return []touch{w.touch()}, nil
}

// builtNames are folders that package managers, compilers and tests make. What commands change there, where git ignores it and tracks
// nothing in it, is moved in as it is: the journal would be full of it.
var builtNames = strings.Fields("node_modules target build dist out bin obj .venv venv __pycache__ .next .nuxt .svelte-kit .cache .tox .nox .gradle .pytest_cache .mypy_cache .ruff_cache .turbo .parcel-cache coverage")

func (p *pending) isBuilt(at workspace.Path) bool {
	return slices.Contains(builtNames, at.Base()) && at.IsIgnored(true) && !p.isTracked(at)
}

// isMade says of a file that builds make it: git ignores it, or a folder that it lies in, and does not track it all the same.
func (p *pending) isMade(file workspace.Path) bool {
	ignored := file.IsIgnored(false)
	for dir := file.Dir(); !ignored && !dir.IsRoot(); dir = dir.Dir() {
		ignored = dir.IsIgnored(true)
	}
	return ignored && !p.isTracked(file)
}

// isTracked says whether git tracks a file, or one in a folder.
func (p *pending) isTracked(at workspace.Path) bool {
	top := git.Top(at.Dir().Abs())
	if top == "" {
		return false
	}
	in, known := p.tracked[top]
	if !known {
		in.names, in.err = git.TrackedIn(top)
		if p.tracked == nil {
			p.tracked = map[string]tracked{}
		}
		p.tracked[top] = in
	}
	rel, err := filepath.Rel(top, at.Abs())
	if err != nil || in.err != nil {
		return true
	}
	rel = filepath.ToSlash(rel)
	_, found := slices.BinarySearch(in.names, rel)
	i, _ := slices.BinarySearch(in.names, rel+"/")
	return found || i < len(in.names) && strings.HasPrefix(in.names[i], rel+"/")
}

// tracked is what git tracks in a work tree, in order.
type tracked struct {
	names []string
	err   error
}
