package patching

import (
	"maps"
	"strings"

	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/patch"
)

// Made is what became of a patch: of each file, and the difference in git's format.
type Made struct {
	Results []FileResult
	Diff    string
	Changed map[string]bool // names that are other than before

	patch *Patch
	moved map[*fileState]*fileState
}

// Made reads it from the outcomes of the set.
func (p *Patch) Made(outcomes []change.Outcome) *Made {
	m := &Made{Results: append([]FileResult{}, p.Results...), patch: p}
	m.moved = p.leftOut(m.Results, outcomes)
	for _, o := range outcomes {
		if o.Tree == nil && !o.File.LeftOut {
			m.note(o)
		}
	}
	m.Diff = p.diff(outcomes, m.moved)
	m.Changed = changedNames(m.Results, outcomes, m.moved)
	return m
}

// MovedTo is the new name of a file that was moved.
func (m *Made) MovedTo(target workspace.Path) (workspace.Path, bool) {
	to := m.moved[m.patch.files[target]]
	if to == nil {
		return workspace.Path{}, false
	}
	return to.target, true
}

// leftOut puts what the user did not take of a patch into its rows, and gives the moves
// that were made.
func (p *Patch) leftOut(rows []FileResult, outcomes []change.Outcome) map[*fileState]*fileState {
	moved := maps.Clone(p.moved)
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
func keepMode(rows []FileResult, f, to *fileState) {
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
func changedNames(rows []FileResult, outcomes []change.Outcome, moved map[*fileState]*fileState) map[string]bool {
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
func still(rows []FileResult, name string, o *change.Outcome) {
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

// note puts what became of a file into the results that are about it.
func (m *Made) note(o change.Outcome) {
	name := o.File.Path().String()
	if to := m.moved[m.patch.files[o.File.Target]]; to != nil {
		name = to.path.String()
	}
	rows := m.Results
	for i := range rows {
		if rows[i].Path == name {
			saved := o.Saved
			rows[i].Version, rows[i].Saved, rows[i].Formatted = o.Version, &saved, o.Formatted
		}
	}
}

// diff is what was changed, in git's format: what is renamed and changed is one.
func (p *Patch) diff(outcomes []change.Outcome, moved map[*fileState]*fileState) string {
	var out strings.Builder
	also, modes := map[workspace.Path]bool{}, map[workspace.Path]string{}
	for _, o := range outcomes {
		if o.Tree != nil && o.Operation == change.ChangeMode {
			modes[o.Tree.Source] = o.Tree.ModeLines()
		}
	}
	add := func(at workspace.Path, diff string) {
		if first, rest, is := strings.Cut(diff, "\n"); is {
			also[at] = true
			out.WriteString(first + "\n" + modes[at] + rest)
		}
	}
	for _, o := range outcomes {
		if o.Tree != nil {
			continue
		}
		if to := moved[p.files[o.File.Target]]; to != nil {
			add(o.File.Target, o.File.MovedDiff(o.Hunks, to.path))
			continue
		}
		add(o.File.Target, o.File.Diff(o.Hunks))
	}
	for _, o := range outcomes {
		isMode := o.Tree != nil && o.Operation == change.ChangeMode
		if o.Tree == nil || o.Tree.LeftOut || also[o.Tree.Source] || isMode && moved[p.files[o.Tree.Source]] != nil {
			continue
		}
		shown := change.Set{Tree: []change.TreeChange{*o.Tree}}.Preview()[0].Diff
		if isMode {
			out.WriteString(shown)
			continue
		}
		add(o.Tree.Source, shown)
	}
	return out.String()
}
