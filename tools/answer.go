package tools

import (
	"context"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// take acts on an answer: remembers what is to be remembered, and makes the
// human's own version of the proposal the plan.
func (p *pending) take(ctx context.Context, a approval.Answer) error {
	if err := p.whole(a); err != nil && a.Decision == approval.Approve {
		return err
	}
	switch a.Decision {
	case approval.Reject:
		return rejected(a.Feedback)
	case approval.Cancel:
		p.call.Session.Pause("the human cancelled " + p.tool.Name)
		return cancelled(a.Feedback)
	case approval.Edit:
		return p.takeEdit(ctx, a)
	case approval.Approve:
		p.remember(a.DecisionID)
		return nil
	}
	return fault.New(fault.UserRejected, "the editor gave no usable answer (%s); nothing was changed", fault.Quote(string(a.Decision)))
}

func rejected(feedback string) error {
	err := fault.New(fault.UserRejected, "the human rejected this%s", said(feedback))
	if feedback == "" {
		return err.WithHint("do not repeat the call as it is; ask what they want instead, or go another way")
	}
	return err.With("feedback", feedback).WithHint("go on as the human says")
}

func cancelled(feedback string) error {
	err := fault.New(fault.Cancelled, "the human cancelled this call and paused the session%s", said(feedback)).
		WithHint("stop here; do not try again until the human resumes the session")
	if feedback == "" {
		return err
	}
	return err.With("feedback", feedback)
}

// whole refuses a yes to some of the hunks: a part must not be taken for all.
func (p *pending) whole(a approval.Answer) error {
	if a.Selected == nil {
		return nil
	}
	hunks := 0
	if e := p.edits(); e != nil {
		for _, f := range e.Set.Files {
			hunks += len(f.Hunks())
		}
	}
	if len(a.Selected) == hunks {
		return nil
	}
	return fault.New(fault.UserRejected, "the human approved %d of %d hunks, and parts of a proposal cannot be made yet; nothing was changed", len(a.Selected), hunks).
		WithHint("propose the parts as calls of their own")
}

func said(feedback string) string {
	if feedback == "" {
		return ""
	}
	return ": " + feedback
}

// remember keeps the rule of a remembering decision, exactly as it was shown. One
// that cannot be kept beyond the session is kept as long as that.
func (p *pending) remember(decisionID string) {
	if key := p.decision.OncePerSession; key != "" {
		p.call.Session.GrantOnce(key)
	}
	for _, o := range p.decision.Offers {
		if o.ID == decisionID && (o.Scope != offerWorkspace || !p.rememberHere(o.Rule)) {
			p.call.Session.Grant(o.Rule)
		}
	}
}

// takeEdit plans with the arguments or the text that the human gave.
func (p *pending) takeEdit(ctx context.Context, a approval.Answer) error {
	if len(a.ModifiedArguments) > 0 {
		p.call.Arguments, p.amended = a.ModifiedArguments, true
		if err := p.replan(ctx); err != nil {
			return err
		}
		if p.decision.Verdict == policy.Refuse {
			return p.refusal()
		}
		return nil
	}
	e := p.edits()
	if e == nil || len(a.After) == 0 {
		return fault.New(fault.InvalidArguments, "the editor's answer is an edit but carries neither text nor arguments; nothing was changed")
	}
	return p.Adopt(a)
}

// Adopt makes the human's version the proposal. Where it was given for an older
// one, the two are merged.
func (p *pending) Adopt(a approval.Answer) error {
	shown, ok := p.proposed[a.Digest]
	if !ok {
		return fault.New(fault.ConcurrentModification, "the answer was given for a proposal that was never shown; nothing was changed")
	}
	p.human = map[workspacePath]human{}
	for _, f := range shown.Files {
		text, edited := a.After[f.Path().String()]
		if edited {
			p.human[f.Path()] = human{proposed: f.After.Text, base: f.Before.Text, text: document.RestoreLineEnds(f.After.Text, text)}
		}
	}
	if len(p.human) != len(a.After) {
		return fault.New(fault.InvalidArguments, "the editor's answer names a file that the proposal does not have; nothing was changed")
	}
	if err := p.keepHumanEdit(); err != nil {
		return err
	}
	p.digest = p.computeDigest()
	return nil
}

// keepHumanEdit lays the human's version over a plan that was made again.
func (p *pending) keepHumanEdit() error {
	e, ok := p.plan.(*Edits)
	if !ok {
		return nil
	}
	for i, f := range e.Set.Files {
		edit, ok := p.human[f.Path()]
		if !ok {
			continue
		}
		text, merged := edit.text, true
		if f.Before.Text != edit.base {
			text, merged = change.Merge(edit.base, edit.text, f.Before.Text)
		}
		if !merged {
			return fault.New(fault.ConcurrentModification, "%s changed while the human edited the proposal, and the two do not fit together; nothing was changed",
				fault.Quote(f.Path().String())).With("human_text", edit.text).With("current_text", f.Before.Text)
		}
		e.Set.Files[i].After.Text = text
		if _, err := e.Set.Files[i].After.Encode(); err != nil {
			return err
		}
	}
	return nil
}
