package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/diff"
)

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
		said = fmt.Sprintf("The user chose %d of %s. What they left out or changed", p.human.taken, count(p.human.of, "hunk"))
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

func (w withHumanEdit) appendFields(dst []byte) (out []byte, field textField) {
	if before := len(dst); w.fields != nil {
		if dst, field = appendFields(dst, w.fields); len(dst) > before {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, `"edited_by_human":true,"`+w.name+`":`...)
	return append(dst, w.value...), field
}
