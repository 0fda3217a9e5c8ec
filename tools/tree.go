package tools

import (
	"fmt"
	"io/fs"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
)

// entry is one entry that a change of the tree takes away, moves or makes, as policy
// has to know it: each that a folder holds is one.
type entry struct {
	at   workspace.Path // with the links on the way to it followed
	mode fs.FileMode
	made bool // a file that is made executable
	// Of one that another program writes, what Written says, and what stands there.
	link, gone, readOnly bool
	links                int
	losesOwner           string
}

func (e *entry) fact(named workspace.Path) policy.PathFact {
	fact := policy.PathFact{
		Path:           named.Rel(),
		Write:          true,
		Root:           named.RootDir(),
		Executable:     e.mode.IsRegular() && e.mode&0o111 != 0,
		MadeExecutable: e.made,
		MadeLink:       e.link,
		Gone:           e.gone,
		ReadOnly:       e.readOnly || e.mode.IsRegular() && e.mode&0o200 == 0,
		HardLinks:      e.links,
		LosesOwner:     e.losesOwner,
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
			out = fmt.Sprintf("Makes %s.", Count(len(c.Missing), "folder"))
		case c.IsDir() && c.Operation == change.Delete:
			out = fmt.Sprintf("Deletes the folder %s and the %s in it.", name, Count(c.Entries, "file"))
		case c.Operation == change.Delete:
			out = fmt.Sprintf("Deletes %s.", name)
		case c.Operation == change.ChangeMode:
			out = fmt.Sprintf("Changes the mode of %s.", name)
		case c.IsDir():
			out = fmt.Sprintf("Moves the folder %s with the %s in it to %s.", name, Count(c.Entries, "file"), fault.Quote(c.To.String()))
		default:
			out = fmt.Sprintf("Moves %s to %s.", name, fault.Quote(c.To.String()))
		}
	}
	return out
}
