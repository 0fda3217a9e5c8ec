package tools

import (
	"fmt"
	"io/fs"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// edits is what is to be done to the workspace.
func (p *patching) edits(text string) (*Edits, error) {
	title := p.title()
	e := &Edits{Title: title, several: true, Set: change.Set{Label: title, Backup: true}}
	moved := map[*patched]*patched{}
	for _, f := range p.order {
		if f.is && !f.was && f.from != nil && !f.from.is && moved[f.from] == nil {
			moved[f.from] = f
		}
	}
	for _, f := range p.order {
		if err := p.plan(e, f, moved); err != nil {
			return nil, err
		}
		if f.like != nil && f.from == nil && f.like.was && !slices.Contains(e.Reads, f.like.path) {
			e.Reads = append(e.Reads, f.like.path)
		}
	}
	if err := checkAllShown(e.Set, text); err != nil {
		return nil, err
	}
	for _, row := range p.results {
		for _, h := range row.Hunks {
			if h.Leniency != "" {
				e.Reasons = append(e.Reasons, fmt.Sprintf("hunk %d of %s fits but for %s", h.Hunk, fault.Quote(row.Path), h.Leniency))
			}
		}
	}
	for _, c := range e.Set.Tree {
		e.Reasons = append(e.Reasons, treeReasons(c)...)
	}
	e.Reasons = append(e.Reasons, p.notes...)
	e.learns = func(f change.File) bool {
		_, moves := moved[p.files[f.Target]]
		return !moves && !f.IsBinary() && p.knew(f.Before)
	}
	e.Answer = func(o []change.Outcome) *Answer { return p.answer(o, moved) }
	return e, nil
}

// knew: the session knows the text that the patch was applied to, or there was none.
func (p *patching) knew(f *document.File) bool {
	version, ok := seen(p.in.Session, f.Path)
	return !f.Exists || ok && version == f.Version
}

// plan adds what is to be done about one file.
func (p *patching) plan(e *Edits, f *patched, moved map[*patched]*patched) error {
	to := moved[f]
	switch {
	case to != nil:
		if to.text != f.textBefore() {
			if err := p.write(e, f, to.text, to.bom, to.bytes); err != nil {
				return err
			}
		}
		if err := p.changeMode(e, f, to.exec); err != nil {
			return err
		}
		entry, err := p.in.Snapshot.Workspace().ResolveEntry(f.path.String())
		if err != nil {
			return err
		}
		c, err := change.NewMove(p.in.Snapshot, entry, to.path, false)
		if err == nil {
			e.Set.Tree = append(e.Set.Tree, c)
		}
		return err
	case f.was && !f.is:
		return p.remove(e, f)
	case f.is && f.was:
		if f.before != nil && (f.text != f.before.Text || f.bom != f.before.BOM) {
			if err := p.write(e, f, f.text, f.bom, f.bytes); err != nil {
				return err
			}
		}
		return p.changeMode(e, f, f.exec)
	case f.is && !f.was && moved[f.from] != f:
		return p.write(e, f, f.text, f.bom, f.bytes)
	}
	return nil
}

func (f *patched) textBefore() string {
	if f.before == nil {
		return ""
	}
	return f.before.Text
}

func (p *patching) remove(e *Edits, f *patched) error {
	c, err := change.NewDelete(p.in.Snapshot, f.path, false)
	if err != nil {
		return err
	}
	if c.Was.Top().Mode.Type() == fs.ModeDir {
		return fault.New(fault.NotAFile, "%s is a folder", fault.Quote(f.path.String()))
	}
	if err := checkKnown(p.in.Session, c); err != nil {
		return err
	}
	e.Set.Tree = append(e.Set.Tree, c)
	return nil
}

func (p *patching) write(e *Edits, f *patched, text string, bom, bytes bool) (err error) {
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
	c.CreateDirs = !p.in.Limits.CodeLab
	if !f.was {
		c.Executable = f.exec
		if err := checkFolder(c); err != nil {
			return err
		}
	}
	e.Set.Files = append(e.Set.Files, c)
	return nil
}
