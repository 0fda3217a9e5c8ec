package tools

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// entry is one entry that a change of the tree takes away, moves or makes, as policy
// has to know it: each that a folder holds is one.
type entry struct {
	at   workspace.Path // with the links on the way to it followed
	mode fs.FileMode
	made bool // a file that is made executable
}

func (e *entry) fact(named workspace.Path) policy.PathFact {
	fact := policy.PathFact{
		Path:           named.Rel(),
		Write:          true,
		Root:           named.RootDir(),
		Executable:     e.mode.IsRegular() && e.mode&0o111 != 0,
		MadeExecutable: e.made,
		ReadOnly:       e.mode.IsRegular() && e.mode&0o200 == 0,
	}
	if named.String() != named.Rel() {
		fact.Folder = folderName(named)
	}
	if e.at != named {
		fact.LinkTarget = e.at.Rel()
	}
	return fact
}

// treeTouches are all entries that a change is about: those of a move under both
// names.
func treeTouches(c change.TreeChange) []touch {
	if c.Operation == change.Unchanged && c.To.IsZero() {
		return []touch{{path: c.Path, write: true}}
	}
	if c.Operation == change.CreateDirectory {
		return []touch{{path: c.Path, write: true, entry: &entry{at: c.Source, mode: fs.ModeDir}}}
	}
	out := entriesOf(c.Was, c.Path, c.Source)
	if c.Operation == change.ChangeMode {
		out[0].entry.made = change.IsExecutable(c.Mode)
	}
	if !c.To.IsZero() {
		names := c.Was
		names.Nodes = slices.Clone(c.Was.Nodes)
		for i := range names.Nodes {
			names.Nodes[i].Mode = fs.ModeIrregular // what it is was judged under its old name
		}
		out = append(out, entriesOf(names, c.To, c.Target)...)
		out = append(out, entriesOf(c.Over, c.To, c.Target)...)
	}
	return out
}

func entriesOf(t workspace.Tree, named, at workspace.Path) []touch {
	out := make([]touch, 0, len(t.Nodes))
	for _, n := range t.Nodes {
		e := &entry{at: at.Join(n.Rel), mode: n.Mode}
		out = append(out, touch{path: named.Join(n.Rel), write: true, entry: e})
	}
	return out
}

func describeTree(changes []change.TreeChange) string {
	var out string
	for _, c := range changes {
		name := fault.Quote(c.Path.String())
		switch {
		case c.Operation == change.CreateDirectory:
			out = fmt.Sprintf("Makes %s.", count(len(c.Missing), "folder"))
		case c.IsDir() && c.Operation == change.Delete:
			out = fmt.Sprintf("Deletes the folder %s and the %s in it.", name, count(c.Entries, "file"))
		case c.Operation == change.Delete:
			out = fmt.Sprintf("Deletes %s.", name)
		case c.Operation == change.ChangeMode:
			out = fmt.Sprintf("Changes the mode of %s.", name)
		case c.IsDir():
			out = fmt.Sprintf("Moves the folder %s with the %s in it to %s.", name, count(c.Entries, "file"), fault.Quote(c.To.String()))
		default:
			out = fmt.Sprintf("Moves %s to %s.", name, fault.Quote(c.To.String()))
		}
	}
	return out
}

// treeReasons are what the user should know beside the names.
func treeReasons(c change.TreeChange) []approval.Reason {
	var out []approval.Reason
	if c.Operation == change.ChangeMode {
		return nil // the preview says it, and policy
	}
	for _, f := range c.Unsaved() {
		out = append(out, approval.Because("unsaved_text", "%s has unsaved changes in the editor; they stay there", fault.Quote(f.Path.String())))
	}
	if link := c.Was.Top().Link; link != "" {
		out = append(out, approval.Because("link", "it is a symbolic link to %s, which stays", fault.Quote(link)))
	}
	if c.Over.Exists() {
		out = append(out, approval.Because("replaces", "it replaces the file %s", fault.Quote(c.To.String())))
	}
	if len(c.Missing) > 0 && c.Operation == change.Move {
		out = append(out, approval.Because("creates", "it creates the folder %s", fault.Quote(c.Target.Dir().String())))
	}
	return out
}

// checkKnown refuses to take away a file that is not the one that the session read.
func checkKnown(s *session.Session, c change.TreeChange) error {
	if c.Text == nil {
		return nil
	}
	b := basisOf(s, c.Text, "")
	if b.version == document.Absent || !b.moved {
		return nil
	}
	b.remembered = false // both sides are the file's own: there is nothing to merge
	return b.conflict(c.Text, "")
}

// treeKnowledge has the session know what became of the files that it knew.
func treeKnowledge(s *session.Session, c change.TreeChange) map[workspace.Path]knowledge {
	out := map[workspace.Path]knowledge{}
	if c.Operation == change.ChangeMode {
		return out
	}
	if c.Over.Exists() && knows(s, c.Target) {
		out[c.Target] = knowledge{version: c.Was.Top().Version} // the agent itself put it there
	}
	top := c.Source.Abs()
	for _, k := range s.Known() {
		rel, err := filepath.Rel(top, k.Path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		version, _ := s.Seen(k.Path)
		out[c.Source.Join(filepath.ToSlash(rel))] = knowledge{version: document.Absent}
		if c.Operation == change.Move {
			out[c.Target.Join(filepath.ToSlash(rel))] = knowledge{version: version}
		}
	}
	return out
}

func knows(s *session.Session, p workspace.Path) bool {
	_, known := seenVersion(s, p)
	return known
}

// treeEdits is the plan of a tool that changes the tree in one place.
func treeEdits(in Input, c change.TreeChange, title string, answer func(change.Outcome) *Answer) *Edits {
	return &Edits{
		Title:   title,
		Reasons: treeReasons(c),
		Set:     change.Set{Tree: []change.TreeChange{c}, Label: title, Backup: true},
		Answer: func(o []change.Outcome) *Answer {
			a := answer(o[0])
			if o[0].Operation != change.Unchanged {
				a.knows = treeKnowledge(in.Session, c)
				a.Display = displayDiff(change.Set{Tree: []change.TreeChange{c}}.Preview()...)
			}
			return a
		},
	}
}

// folderEntries is how many files a folder held; nothing of what is no folder.
func folderEntries(c change.TreeChange) *int {
	if !c.IsDir() {
		return nil
	}
	return &c.Entries
}
