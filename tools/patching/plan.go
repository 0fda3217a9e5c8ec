package patching

import (
	"cmp"
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
		c, err := change.NewDelete(p.in.Snapshot, f.path, false)
		if err == nil && c.Was.Top().Mode.Type() == fs.ModeDir {
			err = fault.New(fault.NotAFile, "%s is a folder", fault.Quote(f.path.String()))
		}
		if err == nil {
			set.Tree = append(set.Tree, c)
		}
		return err
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
	m := &Made{Results: slices.Clone(p.Results), patch: p, moved: maps.Clone(p.moved)}
	m.leaveOut(outcomes)
	for _, o := range outcomes {
		if o.Tree != nil || o.File.LeftOut {
			continue
		}
		name := m.nameOf(o.File)
		for i := range m.Results {
			if row := &m.Results[i]; row.Path == name {
				saved := o.Saved
				row.Version, row.Saved, row.Formatted = o.Version, &saved, o.Formatted
			}
		}
	}
	m.Diff = m.diff(outcomes)
	m.Changed = m.changed(outcomes)
	return m
}

// nameOf is the name that a file has in the rows: the new one where it was moved.
func (m *Made) nameOf(f change.File) string {
	if to := m.moved[m.patch.files[f.Target]]; to != nil {
		return to.path.String()
	}
	return f.Path().String()
}

// MovedTo is the new name of a file that was moved.
func (m *Made) MovedTo(target workspace.Path) (workspace.Path, bool) {
	to := m.moved[m.patch.files[target]]
	if to == nil {
		return workspace.Path{}, false
	}
	return to.target, true
}

// leaveOut puts what the user did not take of the patch into its rows, and forgets the moves
// that were not made.
func (m *Made) leaveOut(outcomes []change.Outcome) {
	rows := m.Results
	for _, o := range outcomes {
		if o.Tree == nil || !o.Tree.LeftOut {
			continue
		}
		f := m.patch.files[o.Tree.Source]
		to := m.moved[f]
		switch {
		case o.Tree.Mode != 0: // its operation is gone with it
			name := cmp.Or(to, f).path.String()
			for i := range rows {
				if rows[i].Path != name {
					continue
				}
				if rows[i].Mode = ""; rows[i].Operation == string(change.ChangeMode) {
					rows[i].Operation = string(change.Unchanged)
				}
			}
			continue
		case to != nil:
			delete(m.moved, f)
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
		f := m.patch.files[o.File.Target]
		if planned := cmp.Or(m.moved[f], f); o.File.LeftOut || o.File.After.Text != planned.text {
			still(rows, m.nameOf(o.File), &o)
		}
	}
}

// changed are the names that are other than before. Rows of moves that were made as
// changes of the files at both ends, where each takes another's place, are corrected when
// only one end was.
func (m *Made) changed(outcomes []change.Outcome) map[string]bool {
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
	for _, to := range m.moved {
		whole[to.path.String()] = true
	}
	for i, row := range m.Results {
		switch {
		case row.Operation != string(change.Move) || whole[row.Path]:
		case !changed[row.Path]:
			m.Results[i].Operation = string(change.Unchanged)
		case !changed[row.From]:
			m.Results[i].Operation = string(patch.Copy)
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

// diff is what was changed, in git's format: what is renamed and changed is one.
func (m *Made) diff(outcomes []change.Outcome) string {
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
		if to := m.moved[m.patch.files[o.File.Target]]; to != nil {
			add(o.File.Target, o.File.MovedDiff(o.Hunks, to.path))
		} else {
			add(o.File.Target, o.File.Diff(o.Hunks))
		}
	}
	for _, o := range outcomes {
		isMode := o.Tree != nil && o.Operation == change.ChangeMode
		if o.Tree == nil || o.Tree.LeftOut || also[o.Tree.Source] || isMode && m.moved[m.patch.files[o.Tree.Source]] != nil {
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
