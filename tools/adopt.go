package tools

import (
	"context"
	"encoding/json"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// ownText is a proposal for one file as the user changed it.
type ownText struct {
	proposed string // the agent's text
	base     string // the text that both started from
	text     string // the user's
	leftOut  bool   // nothing is to be done to the file; text is base
	own      bool   // they wrote it, and did not only choose hunks
}

// treeKey names a change of the tree in a plan that is made again.
type treeKey struct {
	operation change.Operation
	source    workspacePath
}

// choice is what the user took of a proposal.
type choice struct {
	files     map[workspacePath]ownText
	tree      map[treeKey]change.TreeChange // what was left out of it
	links     []workspacePath               // likewise
	taken, of int                           // hunks, 0 where they were not chosen one by one
}

func (c choice) changed() bool { return len(c.files)+len(c.tree)+len(c.links) > 0 }

// Adopt makes the user's version the proposal: their arguments, or the hunks that they chose,
// and their own text where they wrote one. Where it was given for an older proposal, the two
// are merged.
func (p *pending) Adopt(ctx context.Context, a approval.Answer) error {
	if len(a.ModifiedArguments) > 0 {
		return p.amend(ctx, a.ModifiedArguments)
	}
	shown, ok := p.proposed.sets[a.Digest]
	if !ok {
		err := fault.New(fault.ConcurrentModification, "the answer is for a proposal that was not shown, or too old; nothing was changed")
		if len(a.After) > 0 {
			return err.With("human_texts", map[string]string(a.After))
		}
		return err
	}
	chosen, c := shown, choice{files: map[workspacePath]ownText{}, tree: map[treeKey]change.TreeChange{}}
	if a.Selected != nil {
		var err error
		if chosen, c.taken, c.of, err = shown.Choose(a.Selected); err != nil {
			return err
		}
	}
	edited := 0
	for i, f := range shown.Files {
		own := ownText{proposed: f.After.Text, base: f.Before.Text, text: chosen.Files[i].After.Text, leftOut: chosen.Files[i].LeftOut}
		if text, ok := a.After[f.Path().String()]; ok {
			if f.IsBinary() {
				return fault.Invalid("the editor's answer has text for %s, which is not a text file; nothing was changed", fault.Quote(f.Path().String()))
			}
			edited++
			own.text, own.leftOut, own.own = document.RestoreLineEnds(f.After.Text, text), false, true
		} else if own.text == own.proposed && !own.leftOut {
			continue
		}
		c.files[f.Path()] = own
	}
	if edited != len(a.After) {
		return fault.Invalid("the editor's answer names a file that is not in the proposal; nothing was changed").
			WithHint("this is a bug in the editor's plugin; call again, and if it happens again ask the user to update it")
	}
	for i, t := range shown.Tree {
		if chosen.Tree[i].LeftOut {
			c.tree[treeKey{t.Operation, t.Source}] = t
		}
	}
	for _, x := range shown.Restores {
		if !slices.ContainsFunc(chosen.Restores, func(y change.Restore) bool { return y.Path == x.Path }) {
			c.links = append(c.links, x.Path)
		}
	}
	p.human = c
	if err := p.keepChoice(); err != nil {
		return err
	}
	p.digest = p.computeDigest()
	p.propose()
	return nil
}

// amend plans with the user's arguments.
func (p *pending) amend(ctx context.Context, arguments json.RawMessage) error {
	if p.call.Amended != nil {
		arguments = p.call.Amended(arguments)
	}
	p.call.Arguments, p.amended = arguments, true
	if err := p.replan(ctx); err != nil {
		return err
	}
	if p.decision.Verdict == policy.Refuse {
		return p.refusal()
	}
	return nil
}

// propose keeps the plan as one that an answer may be about.
func (p *pending) propose() {
	if e := p.edits(); e != nil {
		p.proposed.keep(p.digest, e.Set)
	}
}

// keepChoice lays the user's version over a plan that was made again.
func (p *pending) keepChoice() error {
	e := p.edits()
	if e == nil {
		return nil
	}
	for i, f := range e.Set.Files {
		own, ok := p.human.files[f.Path()]
		switch {
		case !ok:
			continue
		case own.leftOut:
			e.Set.Files[i].LeaveOut()
			continue
		}
		text, merged := own.text, true
		if f.Before.Text != own.base {
			text, merged = change.Merge(own.base, own.text, f.Before.Text)
		}
		if !merged {
			return fault.New(fault.ConcurrentModification, "%s changed while the user edited the proposal, and the two changes conflict; nothing was changed",
				fault.Quote(f.Path().String())).With("human_text", own.text).With("current_text", f.Before.Text)
		}
		e.Set.Files[i].After.Text = text
		if _, err := e.Set.Files[i].After.Encode(); err != nil {
			return err
		}
	}
	e.Set.Restores = slices.DeleteFunc(slices.Clone(e.Set.Restores), func(x change.Restore) bool { return slices.Contains(p.human.links, x.Path) })
	for i, t := range e.Set.Tree {
		if _, ok := p.human.tree[treeKey{t.Operation, t.Source}]; ok {
			e.Set.Tree[i].LeaveOut()
		}
	}
	return nil
}
