package tools

import (
	"maps"

	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/patch"
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
		if o.Tree.Mode != 0 { // its operation is gone with it
			keepMode(rows, f, moved[f])
			continue
		}
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

// keepMode corrects the rows of a file that keeps its mode; to: what it is renamed to.
func keepMode(rows []patchedFile, f, to *patched) {
	if to != nil {
		f = to
	}
	for i := range rows {
		if rows[i].Path != f.path.String() {
			continue
		}
		if rows[i].Mode = ""; rows[i].Operation == string(change.ChangeMode) {
			rows[i].Operation = string(change.Unchanged)
		}
	}
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
		case row.Operation == string(change.Create), row.Operation == string(patch.Copy):
			row.Operation, row.Mode = string(change.Unchanged), ""
		case row.Operation == string(change.Move):
		case row.Mode != "":
			row.Operation = string(change.ChangeMode)
		default:
			row.Operation = string(change.Unchanged)
		}
	}
}
