package tools

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"pillion/tools/approval"
)

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
	d := Decision{Decision: a.Decision, Feedback: a.Feedback}
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
