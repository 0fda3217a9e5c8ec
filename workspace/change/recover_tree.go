package change

import (
	"fmt"
	"io/fs"
	"path"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// seen is the entry of a name if it is of the type of st, else nil.
func (s scene) seen(name string, st *journal.State) fs.FileInfo {
	info, err := s.folder.Root.Lstat(name)
	if err != nil || st == nil || typeOf(info.Mode()) != st.Type {
		return nil
	}
	return info
}

// stillStands: there is what was to go before the record's own entry came in its place.
func (s scene) stillStands() bool {
	for i := range s.entry.Records {
		r := &s.entry.Records[i]
		if r != s.record && Operation(r.Operation) == Delete && r.Path == s.record.Path {
			return s.isWhole(s.name, r.Before) && !s.isWhole(s.name, s.record.After)
		}
	}
	return false
}

// isReplaced: what stands there came in the place of the record's own entry, which is gone.
func (s scene) isReplaced() bool {
	for i := range s.entry.Records {
		r := &s.entry.Records[i]
		if Operation(r.Operation) == Restored && r.Path == s.record.Path {
			return s.isWhole(s.name, r.After) && !s.isWhole(s.name, s.record.Before)
		}
	}
	return false
}

// recoverDelete: what was set aside whole goes back to its place. What was being removed
// goes: then all of its set was made.
func (s scene) recoverDelete(temp string) (made, string) {
	_, aside := s.folder.Root.Lstat(temp)
	_, there := s.folder.Root.Lstat(s.name)
	switch {
	case temp == "" || aside != nil:
		if there == nil && !s.isReplaced() {
			return notMade, ""
		}
		return wasMade, ""
	case there != nil && s.isWhole(temp, s.record.Before) && s.folder.Rename(temp, s.name) == nil:
		return notMade, ""
	}
	return wasMade, s.sweepTree(temp, s.record.Before)
}

// recoverMove: what was exchanged and not yet set aside is exchanged back.
func (s scene) recoverMove(temp string) (made, string) {
	r := s.record
	p, err := s.committer.Documents.Workspace().ResolveEntry(r.To)
	if err != nil {
		return unclear, ""
	}
	to, _, err := s.committer.system().OpenFolder(p.Dir(), false)
	if err != nil {
		return notMade, "" // its folder is not there
	}
	defer to.Close()
	_, there := s.folder.Root.Lstat(s.name)
	_, arrived := to.Root.Lstat(p.Base())
	switch {
	case there == nil && arrived == nil && r.Over != nil && s.isWhole(s.name, r.Over):
		if s.folder.ExchangeWith(s.name, to, p.Base()) != nil {
			return unclear, fmt.Sprintf("what it replaced is at %s", fault.Quote(r.Name))
		}
		return notMade, ""
	case there == nil:
		return notMade, s.sweepTree(temp, r.Over)
	case arrived == nil:
		return wasMade, s.sweepTree(temp, r.Over)
	}
	return unclear, ""
}

// sweepTree removes a tree that was set aside, or was being made, if all that is in it
// is in the journal.
func (s scene) sweepTree(temp string, st *journal.State) string {
	if temp == "" || st == nil {
		return ""
	}
	if _, err := s.folder.Root.Lstat(temp); err != nil {
		return ""
	}
	if _, ours := s.compare(temp, st); !ours {
		return fmt.Sprintf("%s contains something that is not in the journal, and stays", fault.Quote(s.place(s.folder.RenameVisible(temp, s.name))))
	}
	if err := s.folder.Remove(temp); err != nil {
		name := s.folder.RenameVisible(temp, s.name)
		s.left.tree(s.folder, s.at.Join(name), name == temp, err)
	}
	return ""
}

func (s scene) isWhole(name string, st *journal.State) bool {
	if st == nil {
		return false
	}
	whole, ours := s.compare(name, st)
	return whole && ours
}

// compare holds a tree against the journal. Whole: all that was kept is there. Ours:
// nothing is there that is not in the journal.
func (s scene) compare(name string, st *journal.State) (whole, ours bool) {
	tree, err := workspace.TreeAt(s.folder.Root, name)
	if err != nil {
		return false, false
	}
	want := map[string]*journal.State{".": st}
	for i := range st.Children {
		want[st.Children[i].Name] = &st.Children[i].State
	}
	whole = len(tree.Nodes) == len(want)
	for _, n := range tree.Nodes {
		w := want[n.Rel]
		if w == nil || typeOf(n.Mode) != w.Type || n.Link != w.Link {
			return false, false
		}
		if w.Type != journal.TypeFile {
			continue
		}
		at := path.Join(name, n.Rel)
		if !isState(s.folder.Look(at, max(w.Size, maxReadBack), false, handle.Content{}), w) {
			if whole = false; !s.isBegun(at, w) {
				return false, false
			}
		}
	}
	return whole, true
}
