package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/diff"
)

// take acts on an answer: remembers what is to be remembered, and makes the
// user's own version of the proposal the plan.
func (p *pending) take(ctx context.Context, a approval.Answer) error {
	if err := p.reviewed(a); err != nil {
		return err
	}
	switch a.Decision {
	case approval.Reject:
		return rejected(a.Reason())
	case approval.Cancel:
		p.call.Session.Pause("the user stopped the agent at " + p.tool.Name)
		return Cancelled(a.Reason())
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

// Cancelled is the error of a call that the user cancelled, which has paused the session.
func Cancelled(feedback string) error {
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
	p.grantOnce(p.decision.OncePerSession)
	for _, o := range p.decision.Offers {
		if o.ID != decisionID {
			continue
		}
		if o.Scope == string(approval.Turn) {
			p.call.Session.GrantForTurn(o.Rule)
			continue
		}
		p.grantOnce(o.Once)
		if o.Scope != offerWorkspace || !p.rememberHere(o.Rule) {
			p.call.Session.Grant(o.Rule)
		}
	}
}

func (p *pending) grantOnce(keys []string) {
	files := map[string]string{}
	for key, file := range p.secrets {
		files[key] = file.identity
	}
	p.call.Session.GrantOnceFor(files, keys...)
}

// takeEdit plans with the text that the user gave.
func (p *pending) takeEdit(ctx context.Context, a approval.Answer) error {
	if len(a.ModifiedArguments) > 0 {
		return nil // the queue has had them adopted, before the yes
	}
	e := p.edits()
	if e == nil || len(a.After) == 0 && a.Selected == nil {
		return fault.Invalid("the editor's answer is an edit without text or arguments; nothing was changed")
	}
	return p.Adopt(ctx, a)
}

// Decision is what the user answered when a call was asked about.
type Decision struct {
	Decision approval.Decision
	Feedback string
	// Arguments are the call's own, changed so that they give what the user made of it;
	// nil where nothing was changed, or where no arguments of the tool say it.
	Arguments json.RawMessage
}

// errElsewhere ends a call that was approved and is made by whoever made it.
var errElsewhere = errors.New("the agent makes the call itself")

// decided tells the caller what the user decided, before anything comes of it. The error
// is what take made of the answer.
func (p *pending) decided(ctx context.Context, a approval.Answer, err error) error {
	refused := a.Decision == approval.Reject || a.Decision == approval.Cancel
	if p.call.Decided == nil || err != nil && !refused {
		return err
	}
	d := Decision{Decision: a.Decision, Feedback: a.Reason()}
	if !refused && (p.amended || p.human.changed()) {
		d.Decision, d.Arguments = approval.Edit, p.restated(ctx)
	}
	if here := p.call.Decided(d); !here && err == nil {
		return errElsewhere
	}
	return err
}

// restated are arguments that give exactly the plan as the user changed it, which they
// are planned once more to prove.
func (p *pending) restated(ctx context.Context) json.RawMessage {
	e := p.edits()
	switch {
	case !p.human.changed():
		return p.call.Arguments
	case p.tool.Restate == nil:
		return nil
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal(p.call.Arguments, &arguments) != nil {
		return nil
	}
	for name, value := range p.tool.Restate(e) {
		if delete(arguments, name); value != nil {
			arguments[name] = mustMarshal(value)
		}
	}
	if arguments["expected_version"] != nil { // what it was merged with is in the text now
		arguments["expected_version"] = mustMarshal(e.Set.Files[0].Before.Version)
	}
	again := *p
	again.call.Arguments, again.human = mustMarshal(arguments), choice{}
	if err := again.planOnce(ctx); err != nil {
		return nil
	}
	if same := again.edits(); same == nil || !reflect.DeepEqual(same.Set.Preview(), e.Set.Preview()) {
		return nil
	}
	return again.call.Arguments
}

// noteHumanEdit tells the agent, as a patch, what the user made of its proposal.
func (p *pending) noteHumanEdit(a *Answer, outcomes []change.Outcome) {
	var whole, patch strings.Builder
	for _, o := range outcomes {
		if o.Tree != nil {
			continue
		}
		own, ok := p.human.files[o.File.Path()]
		if !ok {
			continue
		}
		name, approved := o.File.Path().String(), "approved/"+o.File.Path().String()
		if o.File.IsBinary() {
			doing := "changing "
			if !o.File.Before.Exists {
				doing = "creating "
			}
			whole.WriteString("left out: " + doing + fault.Quote(name) + "\n")
			continue
		}
		if own.leftOut && !o.File.Before.Exists {
			whole.WriteString("left out: creating " + fault.Quote(name) + "\n")
			approved = "/dev/null"
		}
		if hunks := diff.Hunks(own.proposed, own.text, 3); len(hunks) > 0 {
			patch.WriteString("--- proposed/" + name + "\n+++ " + approved + "\n" + diff.Unified(hunks))
		}
	}
	for _, o := range outcomes {
		if o.Tree != nil && o.Tree.LeftOut {
			whole.WriteString(p.human.leftOut(*o.Tree))
		}
	}
	if whole.Len()+patch.Len() == 0 {
		return
	}
	said := "The user changed the proposal before approving it. What they changed"
	if p.human.of > 0 {
		said = fmt.Sprintf("The user chose %d of %s. What they left out or changed", p.human.taken, Count(p.human.of, "hunk"))
	}
	change := whole.String() + patch.String()
	a.Notes = append(a.Notes, said+", as a patch from your proposal to what they approved:\n"+change)
	a.Result = withHumanEdit{fields: a.Result, name: "human_diff", value: mustMarshal(change)}
}

// leftOut says in words what was not done to the tree.
func (c choice) leftOut(t change.TreeChange) string {
	name := fault.Quote(t.Path.String())
	for _, left := range c.tree {
		if left.Source != t.Source || left.Path != t.Path || left.To != t.To {
			continue
		}
		switch left.Operation {
		case change.Delete:
			return "left out: deleting " + name + "\n"
		case change.Move:
			return "left out: moving " + name + " to " + fault.Quote(t.To.String()) + "\n"
		case change.ChangeMode:
			return "left out: the mode of " + name + "\n"
		}
	}
	return "left out: creating " + name + "\n"
}

// noteAmended tells the agent that other arguments than its own were used.
func (p *pending) noteAmended(a *Answer) {
	if !p.amended {
		return
	}
	a.Notes = append(a.Notes, "The user changed the arguments before approving. This was run:\n"+string(p.call.Arguments))
	a.Result = withHumanEdit{fields: a.Result, name: "arguments", value: p.call.Arguments}
}

// withHumanEdit adds what the user changed to a tool's fields.
type withHumanEdit struct {
	fields any
	name   string
	value  json.RawMessage
}

func (w withHumanEdit) AppendFields(dst []byte) (out []byte, field TextField) {
	if before := len(dst); w.fields != nil {
		if dst, field = appendFields(dst, w.fields); len(dst) > before {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, `"edited_by_human":true,"`+w.name+`":`...)
	return append(dst, w.value...), field
}
