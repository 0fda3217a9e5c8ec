package tools

import (
	"io/fs"
	"slices"

	"pillion/tools/policy"
	"pillion/workspace"
)

// Written is a file that a call has another program create, change or delete, such as git when it
// switches branches: one entry, whatever link stands there now.
type Written struct {
	Path           workspace.Path // zero where it is in no open folder
	Abs            string
	MadeExecutable bool
	MadeLink       bool // it becomes a symbolic link, or leads elsewhere as one
	New, Deleted   bool
	Line           string // what a dialog says of it
}

func writesByAnother(plan Plan) bool {
	a, acts := plan.(*Action)
	return acts && len(a.Writes) > 0
}

// Shown is what a dialog says of one of them.
type Shown struct {
	Line      string
	Protected bool // it asks in every mode
}

// touch looks at what stands there, which is about to be replaced.
func (w Written) touch() touch {
	e := &entry{at: w.Path, mode: fs.ModeIrregular, made: w.MadeExecutable, link: w.MadeLink, gone: w.Deleted}
	if w.Path.IsZero() {
		return touch{write: true, entry: e, elsewhere: w.Abs}
	}
	if w.New {
		return touch{path: w.Path, write: true, entry: e}
	}
	if info := w.Path.Standing(); info != nil {
		if e.mode = info.Mode(); e.mode.IsRegular() {
			e.readOnly = w.Path.ReadOnly(info)
			if !w.Deleted {
				e.links, e.losesOwner = workspace.HardLinks(info), workspace.LosesOwner(info)
			}
		}
	}
	return touch{path: w.Path, write: true, entry: e}
}

// show has an action make its preview: what policy would ask about comes first, else the order stays.
func (p *pending) show(r policy.Request) {
	a, acts := p.plan.(*Action)
	if !acts || a.Shows == nil {
		return
	}
	weights := make([]policy.Weight, len(a.Writes))
	if p.decision.Verdict == policy.Ask {
		all := r.Weights()
		copy(weights, all[len(all)-len(a.Writes):]) // they are its last
	}
	order := make([]int, len(a.Writes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return int(weights[y]) - int(weights[x]) })
	shown := make([]Shown, 0, len(order))
	for _, i := range order {
		shown = append(shown, Shown{a.Writes[i].Line, weights[i] == policy.Foremost})
	}
	a.Preview = a.Shows(shown)
}
