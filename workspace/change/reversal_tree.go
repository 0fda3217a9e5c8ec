package change

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// undoCreate takes away what an agent made, if it still is what was made.
func (r *reversal) undoCreate(p workspace.Path, u undoing) error {
	one, at := r.now(p)
	switch {
	case one != nil:
		if u.record.After.Type == journal.TypeFile && !sameBytes(one.data, u.record.After) {
			return conflict("it has changed since it was created")
		}
		r.forget(p)
	case !at.IsZero():
		if err := r.takeAway(at, u); err != nil {
			return err
		}
	}
	r.emptied = append(r.emptied, u.record.MadeFolders...)
	return nil
}

// forget drops what was to come out of the journal, with all that is below it.
func (r *reversal) forget(p workspace.Path) {
	for name := range r.restored {
		if isIn(p.Abs(), name) {
			delete(r.restored, name)
		}
	}
}

func (r *reversal) takeAway(at workspace.Path, u undoing) error {
	if slices.ContainsFunc(r.moves, func(m renaming) bool { return m.from != at && at.IsIn(m.from) }) {
		return conflict("its folder was moved since; revert that first")
	}
	for _, f := range r.snap.Below(at) {
		if f.Dirty {
			return conflict("it has unsaved changes in the editor")
		}
	}
	if t := r.texts[at]; t != nil {
		made, err := r.content(u, u.record.After)
		if err != nil || !made.Same(t.now.Text) || made.Encoding == document.Binary && made.Text != t.now.Text {
			return conflict("it has changed since it was created")
		}
	} else if err := r.holds(at, u.record.After); err != nil {
		return err
	}
	delete(r.texts, at)
	maps.DeleteFunc(r.modes, func(p workspace.Path, _ fs.FileMode) bool { return p.IsIn(at) })
	r.moves = slices.DeleteFunc(r.moves, func(m renaming) bool { return m.from == at })
	r.gone = append(r.gone, at)
	return nil
}

// holds fails unless at is what the journal says was made, and nothing else is in it.
func (r *reversal) holds(at workspace.Path, st *journal.State) error {
	tree, err := r.snap.Tree(at)
	if err != nil {
		return err
	}
	if st == nil || len(tree.Nodes) != 1+len(st.Children) {
		return conflict("other files are in it now")
	}
	want := map[string]*journal.State{".": st}
	for i := range st.Children {
		want[st.Children[i].Name] = &st.Children[i].State
	}
	for _, n := range tree.Nodes {
		if w := want[n.Rel]; w == nil || typeOf(n.Mode) != w.Type || n.Link != w.Link || w.Type == journal.TypeFile && hashOf(at.Join(n.Rel)) != w.Hash {
			return conflict("it has changed since it was created")
		}
	}
	return nil
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return journal.TypeDirectory
	case mode&fs.ModeSymlink != 0:
		return journal.TypeSymlink
	case mode.IsRegular():
		return journal.TypeFile
	}
	return ""
}

func typeAt(p workspace.Path) string {
	if p.IsZero() {
		return ""
	}
	info, err := p.Lstat()
	if err != nil {
		return ""
	}
	return typeOf(info.Mode())
}

// hashOf is the whole hash of a file, "" where it cannot be read.
func hashOf(p workspace.Path) string {
	f, _, err := p.OpenFile()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sameBytes(data []byte, st *journal.State) bool {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == st.Hash
}

// undoDelete brings back what was deleted, where nothing has taken its place.
func (r *reversal) undoDelete(p workspace.Path, u undoing, was *journal.State) error {
	if was == nil {
		return nil
	}
	one, at := r.now(p)
	switch {
	case one != nil && one.state.Type == journal.TypeDirectory && was.Type == journal.TypeDirectory:
	case one != nil:
		return conflict("something else is there now")
	case !at.IsZero() && at.Exists(): // not only in a buffer, which keeps its text
		if stands, err := r.stands(at, was); err != nil || stands && was.Type != journal.TypeDirectory {
			return err
		}
	default:
		if err := r.restore(p, u, *was); err != nil {
			return err
		}
	}
	for i := range was.Children {
		child := &was.Children[i]
		if err := r.undoDelete(p.Join(child.Name), u, &child.State); err != nil {
			return conflict("%s: %v", child.Name, err)
		}
	}
	return nil
}

// stands reports whether what was deleted is there already; what is not it is in the way.
func (r *reversal) stands(at workspace.Path, was *journal.State) (bool, error) {
	info, err := at.Lstat()
	if err != nil || typeOf(info.Mode()) != was.Type || was.Type == journal.TypeFile && hashOf(at) != was.Hash {
		return false, conflict("something else is there now")
	}
	return true, nil
}

func (r *reversal) restore(p workspace.Path, u undoing, was journal.State) error {
	was.Children = nil
	one := &restored{path: p, state: was, from: u}
	if was.Type == journal.TypeFile && was.Size <= maxReadBack {
		var err error
		if one.data, err = r.bytes(u, &was); err != nil {
			return err
		}
	}
	r.restored[p.Abs()] = one
	return nil
}

// undoMove moves an entry back, with all that others made of it since.
func (r *reversal) undoMove(p workspace.Path, u undoing) error {
	to, err := r.committer.Documents.Workspace().ResolveEntry(u.record.To)
	if err != nil {
		return err
	}
	one, at := r.now(to)
	back, there := r.now(p)
	if back == nil && r.isEmptied(there) {
		r.gone, there = append(r.gone, there), workspace.Path{}
	}
	if back != nil || !there.IsZero() {
		if one == nil && at.IsZero() && u.record.Before != nil && typeAt(there) == u.record.Before.Type {
			return nil // it is back already
		}
		return conflict("something else is at its old path")
	}
	switch {
	case one != nil:
		r.rename(to, p)
	case at.IsZero():
		return conflict("it is no longer at %s", to)
	default:
		info, err := at.Lstat()
		if err != nil || u.record.Before != nil && typeOf(info.Mode()) != u.record.Before.Type {
			return conflict("something else is at %s now", to)
		}
		if err := r.moveBack(at, to, p); err != nil {
			return err
		}
	}
	r.emptied = append(r.emptied, u.record.MadeFolders...)
	if u.record.Over != nil {
		return r.undoDelete(to, u, u.record.Over)
	}
	return nil
}

// rename gives what comes out of the journal another name.
func (r *reversal) rename(from, to workspace.Path) {
	for name, one := range r.restored {
		if isIn(from.Abs(), name) {
			rel, _ := filepath.Rel(from.Abs(), name) //nolint:errcheck // isIn
			delete(r.restored, name)
			one.path = to.Join(filepath.ToSlash(rel))
			r.restored[one.path.Abs()] = one
		}
	}
}

// moveBack plans one renaming, or makes the last one that led to where it is now lead
// farther back.
func (r *reversal) moveBack(at, to, p workspace.Path) error {
	if at == to {
		r.moves = append(r.moves, renaming{at, p})
		return nil
	}
	for i, m := range r.moves {
		if m.from == at && m.to == to {
			r.moves[i].to = p
			return nil
		}
	}
	return conflict("its folder was moved since; revert that first")
}

// compileTree makes the set's changes of the tree: which modes go back, what goes, what
// moves, what comes back, and last the folders in which nothing is left.
func (r *reversal) compileTree() error {
	if err := r.compileModes(); err != nil {
		return err
	}
	var gone []workspace.Path // before what comes next is made
	for _, p := range r.gone {
		c, err := NewDelete(r.snap, p, true)
		if err != nil {
			return err
		}
		r.set.Tree = append(r.set.Tree, c)
		gone = append(gone, c.Source)
	}
	if err := r.compileMoves(gone); err != nil {
		return err
	}
	names := make([]string, 0, len(r.restored))
	for name := range r.restored {
		names = append(names, name)
	}
	slices.Sort(names) // a folder comes before what is in it
	for _, name := range names {
		one := r.restored[name]
		// A folder that something is moved into is made by that.
		if one.state.Type == journal.TypeDirectory && slices.ContainsFunc(r.moves, func(m renaming) bool { return m.to.IsIn(one.path) }) {
			continue
		}
		r.addRestored(one)
	}
	r.compileEmptied()
	return nil
}

func (r *reversal) addRestored(one *restored) {
	st := one.state
	switch {
	case st.Type == journal.TypeFile && one.data != nil:
		st.Data, st.Hash, st.Chunks = one.data, "", nil
	case st.Type == journal.TypeFile:
		was := st
		st.Open = func() (io.ReadCloser, error) { return r.committer.Journal.Store.Stream(one.from.entry, was) }
		st.Hash, st.Chunks = "", nil
	}
	for i := range r.set.Restores {
		top := &r.set.Restores[i]
		if top.State.Type == journal.TypeDirectory && one.path.IsIn(top.Path) {
			rel, _ := filepath.Rel(top.Path.Abs(), one.path.Abs()) //nolint:errcheck // IsIn
			top.State.Children = append(top.State.Children, journal.Child{Name: filepath.ToSlash(rel), State: st})
			return
		}
	}
	r.set.Restores = append(r.set.Restores, Restore{Path: one.path, State: st})
}

// compileEmptied finds the folders that agents made and that nothing is left in.
func (r *reversal) compileEmptied() {
	slices.SortFunc(r.emptied, func(a, b string) int {
		return strings.Count(b, string(filepath.Separator)) - strings.Count(a, string(filepath.Separator))
	})
	r.emptied = slices.Compact(r.emptied)
	for _, name := range r.emptied {
		p, err := r.committer.Documents.Workspace().ResolveEntry(name)
		if err != nil || p.IsRoot() || !r.willBeEmpty(p) {
			continue
		}
		r.set.Empty = append(r.set.Empty, p)
	}
}

// willBeEmpty: all that is in the folder goes, and nothing comes.
func (r *reversal) willBeEmpty(dir workspace.Path) bool {
	info, err := dir.Lstat()
	if err != nil || !info.IsDir() {
		return false
	}
	comes := func(p workspace.Path) bool { return p.IsIn(dir) }
	if slices.ContainsFunc(r.set.Restores, func(x Restore) bool { return comes(x.Path) }) ||
		slices.ContainsFunc(r.moves, func(m renaming) bool { return comes(m.to) && !m.from.IsIn(dir) }) {
		return false
	}
	entries, err := dir.ReadDir()
	if err != nil {
		return false
	}
	for _, e := range entries {
		p := dir.Join(e.Name())
		goes := slices.Contains(r.gone, p) || slices.Contains(r.set.Empty, p) ||
			slices.ContainsFunc(r.moves, func(m renaming) bool { return m.from == p && !m.to.IsIn(dir) })
		if !goes {
			return false
		}
	}
	return true
}

// undoMake takes a folder away that was made, unless there is something in it.
func (r *reversal) undoMake(p workspace.Path, u undoing) error {
	r.emptied = append(r.emptied, u.record.MadeFolders...)
	r.folders = append(r.folders, p)
	return nil
}

// isEmptied: a folder that was made, and that nothing is in.
func (r *reversal) isEmptied(p workspace.Path) bool {
	if p.IsZero() || !slices.Contains(r.folders, p) || slices.ContainsFunc(r.moves, func(m renaming) bool { return m.to.IsIn(p) }) {
		return false
	}
	entries, err := p.ReadDir()
	return err == nil && len(entries) == 0
}

// isFilled: what comes back is in the folder, which was there before it was made.
func (r *reversal) isFilled(p workspace.Path) bool {
	return slices.ContainsFunc(r.set.Restores, func(x Restore) bool { return x.Path.IsIn(p) }) ||
		slices.ContainsFunc(r.moves, func(m renaming) bool { return m.to.IsIn(p) })
}

// checkFolders says of each made folder that stays why.
func (r *reversal) checkFolders() {
	for _, p := range r.folders {
		if p.Exists() && !slices.Contains(r.set.Empty, p) && !slices.Contains(r.gone, p) && !r.isFilled(p) {
			r.settle(p.String(), reversedFile{conflict: "it is not empty"})
			r.done = slices.DeleteFunc(r.done, func(u undoing) bool {
				return u.record.Path == p.Abs() && u.record.Operation == string(CreateDirectory)
			})
		}
	}
}
