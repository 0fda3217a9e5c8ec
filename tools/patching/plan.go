package patching

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/patch"
)

// Set is what is to be done to the workspace, and the files beside it that copies are
// made from.
func (p *Patch) Set(label string) (set change.Set, reads []workspace.Path, err error) {
	set = change.Set{Label: label, Backup: true}
	p.moved = map[*fileState]*fileState{}
	for _, f := range p.order {
		if f.is && !f.was && f.from != nil && !f.from.is && p.moved[f.from] == nil {
			p.moved[f.from] = f
		}
	}
	for _, f := range p.order {
		if err := p.plan(&set, f); err != nil {
			return change.Set{}, nil, err
		}
		if f.like != nil && f.from == nil && f.like.was && !slices.Contains(reads, f.like.path) {
			reads = append(reads, f.like.path)
		}
	}
	return set, reads, nil
}

// Moves reports whether a file is moved by the set.
func (p *Patch) Moves(target workspace.Path) bool { return p.moved[p.files[target]] != nil }

// plan adds what is to be done about one file.
func (p *Patch) plan(set *change.Set, f *fileState) error {
	to := p.moved[f]
	switch {
	case to != nil:
		if to.text != f.textBefore() {
			if err := p.write(set, f, to.text, to.bom, to.bytes); err != nil {
				return err
			}
		}
		if err := p.changeMode(set, f, to.exec); err != nil {
			return err
		}
		entry, err := p.in.Snapshot.Workspace().ResolveEntry(f.path.String())
		if err != nil {
			return err
		}
		c, err := change.NewMove(p.in.Snapshot, entry, to.path, false)
		if err == nil {
			set.Tree = append(set.Tree, c)
		}
		return err
	case f.was && !f.is:
		return p.remove(set, f)
	case f.is && f.was:
		if f.before != nil && (f.text != f.before.Text || f.bom != f.before.BOM) {
			if err := p.write(set, f, f.text, f.bom, f.bytes); err != nil {
				return err
			}
		}
		return p.changeMode(set, f, f.exec)
	case f.is && !f.was && p.moved[f.from] != f:
		return p.write(set, f, f.text, f.bom, f.bytes)
	}
	return nil
}

func (f *fileState) textBefore() string {
	if f.before == nil {
		return ""
	}
	return f.before.Text
}

func (p *Patch) remove(set *change.Set, f *fileState) error {
	c, err := change.NewDelete(p.in.Snapshot, f.path, false)
	if err != nil {
		return err
	}
	if c.Was.Top().Mode.Type() == fs.ModeDir {
		return fault.New(fault.NotAFile, "%s is a folder", fault.Quote(f.path.String()))
	}
	set.Tree = append(set.Tree, c)
	return nil
}

func (p *Patch) write(set *change.Set, f *fileState, text string, bom, bytes bool) (err error) {
	if bytes && !f.was {
		if f.before, err = p.in.Snapshot.ReadIfExists(f.path, document.Binary); err != nil {
			return err
		}
	}
	content := document.Content{Text: text, Encoding: f.before.Encoding, BOM: bom}
	switch {
	case bytes:
		content.Encoding = document.Binary
	case content.Encoding != "":
	case f.like != nil && f.like.before != nil:
		content.Encoding = f.like.before.Encoding
	default:
		content.Encoding = document.UTF8
	}
	c, err := change.New(f.before, content)
	if err != nil {
		return err
	}
	if c.CreateDirs = p.in.MakesDirs; !c.CreateDirs {
		if _, err := c.Target.Dir().Stat(); err != nil {
			return fault.From(err).WithHint("create the folder first, with create_directory")
		}
	}
	if !f.was {
		c.Executable = f.exec
	}
	set.Files = append(set.Files, c)
	return nil
}

// changeMode plans that what was a file gets the mode that another one is to have.
func (p *Patch) changeMode(set *change.Set, f *fileState, exec bool) error {
	if !f.was || f.wasExec == exec {
		return nil
	}
	c, err := change.NewMode(p.in.Snapshot, f.path, exec)
	if err == nil && c.Operation != change.Unchanged {
		set.Tree = append(set.Tree, c)
	}
	return err
}

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
