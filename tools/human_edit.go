package tools

import (
	"encoding/json"
	"strings"

	"pillion/workspace/change"
	"pillion/workspace/diff"
)

// noteHumanEdit tells the agent, as a patch, what the human made of its proposal.
func (p *pending) noteHumanEdit(a *Answer, outcomes []change.Outcome) {
	var patch strings.Builder
	for _, o := range outcomes {
		if o.Tree != nil {
			continue
		}
		edit, ok := p.human[o.File.Path()]
		if !ok {
			continue
		}
		name := o.File.Path().String()
		patch.WriteString("--- proposed/" + name + "\n+++ approved/" + name + "\n")
		patch.WriteString(diff.Unified(diff.Hunks(edit.proposed, edit.text, 3)))
	}
	if patch.Len() == 0 {
		return
	}
	a.Notes = append(a.Notes, "The human changed the proposal before approving it. What they changed, as a patch from your proposal to what they approved:\n"+patch.String())
	a.Result = withHumanEdit{fields: a.Result, name: "human_diff", value: mustMarshal(patch.String())}
}

// noteAmended tells the agent that other arguments than its own were used.
func (p *pending) noteAmended(a *Answer) {
	if !p.amended {
		return
	}
	a.Notes = append(a.Notes, "The human changed the arguments before approving. This is what was done:\n"+string(p.call.Arguments))
	a.Result = withHumanEdit{fields: a.Result, name: "arguments", value: p.call.Arguments}
}

// withHumanEdit adds what the human changed to a tool's fields.
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
