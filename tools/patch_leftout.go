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

// changedNames are the names that are other than before. Rows of moves that were made as
// changes of the files at both ends, where each takes another's place, are corrected when
// only one end was.
func changedNames(rows []patchedFile, outcomes []change.Outcome, moved map[*patched]*patched) map[string]bool {
	changed, whole := map[string]bool{}, map[string]bool{}
	for _, o := range outcomes {
		switch {
		case o.Operation == change.Unchanged || o.Tree == nil && o.File.LeftOut:
		case o.Tree == nil:
			changed[o.File.Path().String()] = true
		default:
			changed[o.Tree.Path.String()] = true
			if o.Operation == change.Move {
				changed[o.Tree.To.String()] = true
			}
		}
	}
	for _, to := range moved {
		whole[to.path.String()] = true
	}
	for i, row := range rows {
		switch {
		case row.Operation != string(change.Move) || whole[row.Path]:
		case !changed[row.Path]:
			rows[i].Operation = string(change.Unchanged)
		case !changed[row.From]:
			rows[i].Operation = string(patch.Copy)
		}
	}
	return changed
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
