package tools

import (
	"maps"

	"pillion/workspace/change"
	"pillion/workspace/diff"
)

// leftOut puts what the human did not take of a patch into its rows, and gives the moves
// that were made.
func (p *patching) leftOut(rows []patchedFile, outcomes []change.Outcome, moved map[*patched]*patched) map[*patched]*patched {
	moved = maps.Clone(moved)
	for _, o := range outcomes {
		if o.Tree == nil || !o.Tree.LeftOut {
			continue
		}
		f := p.files[o.Tree.Source]
		if to := moved[f]; to != nil {
			delete(moved, f)
			for i := range rows {
				if rows[i].Path == to.path.String() { // its lines are another matter
					rows[i].Path, rows[i].From, rows[i].Operation = rows[i].From, "", string(change.Overwrite)
				}
			}
			if f.textBefore() != to.text {
				continue
			}
		}
		still(rows, o.Tree.Path.String(), nil)
	}
	for _, o := range outcomes {
		if o.Tree != nil {
			continue
		}
		f, name := p.files[o.File.Target], o.File.Path().String()
		planned := ""
		if f != nil {
			planned = f.text
		}
		if to := moved[f]; to != nil {
			name, planned = to.path.String(), to.text
		}
		if o.File.LeftOut || o.File.After.Text != planned {
			still(rows, name, &o)
		}
	}
	return moved
}

// still corrects the rows of a file of which not all was made; nil: nothing was.
func still(rows []patchedFile, name string, o *change.Outcome) {
	for i := range rows {
		row := &rows[i]
		if row.Path != name {
			continue
		}
		row.HunksApplied, row.Additions, row.Deletions, row.Offset, row.Hunks = 0, 0, 0, 0, nil
		switch {
		case o != nil && !o.File.LeftOut: // all in the first row about it
			row.HunksApplied = len(o.Hunks)
			row.Additions, row.Deletions = diff.Count(o.Hunks)
			o = nil
		case row.Operation != string(change.Move):
			row.Operation = string(change.Unchanged)
		}
	}
}
