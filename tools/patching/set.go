package patching

import (
	"io/fs"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
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
