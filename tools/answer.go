package tools

import (
	"context"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
)

// take acts on an answer: remembers what is to be remembered, and makes the
// user's own version of the proposal the plan.
func (p *pending) take(ctx context.Context, a approval.Answer) error {
	switch a.Decision {
	case approval.Reject:
		return rejected(a.Feedback)
	case approval.Cancel:
		p.call.Session.Pause("the user stopped the agent at " + p.tool.Name)
		return cancelled(a.Feedback)
	case approval.Edit:
		return p.takeEdit(ctx, a)
	case approval.Approve:
		if !p.offered(a.DecisionID) {
			return fault.New(fault.UserRejected, "the editor's answer has the decision %s, which was not offered; nothing was changed", fault.Quote(a.DecisionID))
		}
		if err := p.takeSome(ctx, a); err != nil {
			return err
		}
		p.remember(a.DecisionID)
		return nil
	}
	return fault.New(fault.UserRejected, "the editor gave no usable answer (%s); nothing was changed", fault.Quote(string(a.Decision)))
}

// offered says whether an approval names a way to approve that was shown, or none.
func (p *pending) offered(decisionID string) bool {
	return decisionID == "" || decisionID == approval.ApproveID ||
		slices.ContainsFunc(p.decision.Offers, func(o policy.Offer) bool { return o.ID == decisionID })
}

func rejected(feedback string) error {
	err := fault.New(fault.UserRejected, "the user rejected this%s", said(feedback))
	if feedback == "" {
		return err.WithHint("do not repeat the call; ask the user what they want, or try another way")
	}
	return err.With("feedback", feedback).WithHint("follow the user's reason")
}

func cancelled(feedback string) error {
	err := fault.New(fault.Cancelled, "the user cancelled this call and paused the session%s", said(feedback)).
		WithHint("stop here; do not try again until the user resumes the session")
	if feedback == "" {
		return err
	}
	return err.With("feedback", feedback)
}

// takeSome has a yes to some hunks make these alone.
func (p *pending) takeSome(ctx context.Context, a approval.Answer) error {
	if a.Selected == nil || p.edits() == nil {
		return nil
	}
	if shown, ok := p.proposed.sets[a.Digest]; ok {
		_, taken, of, err := shown.Choose(a.Selected)
		if err != nil || taken == of && len(a.After) == 0 {
			return err
		}
	}
	return p.Adopt(ctx, a) // which refuses what was never shown
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
	p.call.Session.GrantOnce(p.decision.OncePerSession...)
	for _, o := range p.decision.Offers {
		if o.ID != decisionID {
			continue
		}
		p.call.Session.GrantOnce(o.Once...)
		if o.Scope != offerWorkspace || !p.rememberHere(o.Rule) {
			p.call.Session.Grant(o.Rule)
		}
	}
}

// takeEdit plans with the text that the user gave.
func (p *pending) takeEdit(ctx context.Context, a approval.Answer) error {
	if len(a.ModifiedArguments) > 0 {
		return nil // the queue has had them adopted, before the yes
	}
	e := p.edits()
	if e == nil || len(a.After) == 0 && a.Selected == nil {
		return fault.New(fault.InvalidArguments, "the editor's answer is an edit without text or arguments; nothing was changed")
	}
	return p.Adopt(ctx, a)
}
