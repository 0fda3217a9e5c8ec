package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"pillion/internal/fault"
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
		for i := range layers {
			layers[i].Through = p.built(layers[i].Folder)
		}
		held.Layers = layers
		b := layer.Bringing{Began: layer.Made(layers[0].Changes), Label: p.title(), Judge: p.judgeBrought, IsBuilt: isBuilt}
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.timeout())
	defer cancel()
	var left []layer.Left
	for range maxReplans {
		p.snapshot = p.takeSnapshot()
		set, without, err := b.Set(ctx, p.snapshot)
		left = without
		if err == nil && set.Changes() {
			p.outcomes, err = p.registry.Committer.Commit(ctx, set, p.origin())
			p.outcomes = slices.DeleteFunc(p.outcomes, func(o change.Outcome) bool { return o.Tree == nil && o.File.Before == nil }) // links
		}
		if err == nil {
			break
		}
		left = append(left, layer.Left{Path: ".", Reason: fault.From(err).Message})
		if !errors.Is(err, change.ErrMoved) {
			break
		}
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

// judgeOf judges what is in a layer as edits of the workspace.
func (p *pending) judgeOf(all []layer.Placed) func(layer.Placed) (policy.Decision, error) {
	written := make([]workspace.Path, 0, len(all))
	for _, c := range all {
		written = append(written, c.Path)
	}
	p.guards = nil
	after := p.layoutWith(written...)
	return func(c layer.Placed) (policy.Decision, error) {
		w := Written{Path: c.Path, Abs: c.Path.Abs(), New: c.Was == nil, Deleted: c.Is == nil}
		ignored := c.Path.IsIgnored(false) // what builds make
		if c.Is != nil && c.Was != nil && !ignored {
			w.MadeExecutable = c.Is.Mode().IsRegular() && change.IsExecutable(c.Is.Mode()) && !change.IsExecutable(c.Was.Mode())
		}
		if c.Is != nil && c.Is.Mode()&fs.ModeSymlink != 0 {
			below, inside := c.Leads()
			at := c.Path.RootDir()
			w.MadeLink = !inside || policy.EffectAt(at, git.Top(at), below) != "" || policy.Secret(at+"/"+below)
		}
		fact, err := p.factOf(resolveTouch(w.touch()), after)
		if err != nil {
			return policy.Decision{}, err
		}
		fact.Executable = fact.Executable && !ignored
		return policy.Decide(policy.Request{Tool: p.tool.Name, Access: policy.Edit, Mode: policy.AutoEdit, Paths: []policy.PathFact{fact}, Rules: p.rules(site{})}), nil
	}
}

// builtNames are folders that package managers, compilers and tests make. What commands write there, where git ignores it, they
// write in the workspace itself: nobody looks into it, and a layer would have to be copied.
var builtNames = strings.Fields("node_modules target build dist out bin obj .venv venv __pycache__ .next .nuxt .svelte-kit .cache .tox .nox .gradle .pytest_cache .mypy_cache .ruff_cache .turbo .parcel-cache coverage")

func isBuilt(p workspace.Path) bool {
	return slices.Contains(builtNames, p.Base()) && p.IsIgnored(true)
}

// built finds such folders in an open folder, not far down.
func (p *pending) built(folder string) (out []string) {
	const most, deepest = 64, 3
	at, inside := p.registry.Documents.Workspace().Place(folder)
	todo := []workspace.Path{at}
	for depth := 0; inside && depth < deepest; depth++ {
		var below []workspace.Path
		for _, dir := range todo {
			entries, _ := dir.ReadDir() //nolint:errcheck // then there are none
			for _, e := range entries {
				next := dir.Join(e.Name())
				switch {
				case !e.IsDir() || e.Name() == ".git":
				case isBuilt(next):
					out = append(out, next.Abs())
				case !next.IsIgnored(true):
					below = append(below, next)
				}
			}
		}
		todo = below[:min(len(below), 200)]
	}
	return out[:min(len(out), most)]
}
