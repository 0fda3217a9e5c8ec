package tools

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/journal"
)

// checkOut switches where there is no git: the files by a change set, as a whole, the
// rest by package git.
func (b branchPlan) checkOut(ctx context.Context, hands Hands) error {
	ctx, cancel := context.WithTimeout(ctx, b.git.timeout)
	defer cancel()
	return git.CheckOut(ctx, b.dir.RootDir(), b.dir.Abs(), b.BranchChange, func(files []git.CheckoutFile) (func(context.Context) error, error) {
		set, err := b.set(hands.Snapshot(), files)
		return func(ctx context.Context) error { return hands.Change(ctx, set) }, err
	})
}

// set is what is to be written, on what is there now. A file that is replaced goes, and
// another comes: git does so too, and it has no attributes of the old one.
func (b branchPlan) set(snap *document.Snapshot, files []git.CheckoutFile) (change.Set, error) {
	x := &checkingOut{
		branchPlan: b, snap: snap, set: change.Set{Label: "Pillion: switch to " + fault.Quote(fault.Clip(b.Name, 60))},
		goes: map[string]bool{}, with: map[string]bool{}, folders: map[string]int{},
	}
	for _, f := range files {
		x.goes[f.Path], x.with[f.Path] = f.Gone && !f.New, f.Folder
	}
	for _, f := range files {
		if err := x.add(f); err != nil {
			return x.set, err
		}
	}
	x.set.Empty = emptied(x.gone, x.set)
	return x.set, b.unsaved(snap, x.all)
}

// checkingOut makes the set of a switch.
type checkingOut struct {
	branchPlan
	snap      *document.Snapshot
	set       change.Set
	all, gone []workspace.Path
	goes      map[string]bool // what stands there now, and is not replaced
	with      map[string]bool // folders that go with all that is in them
	folders   map[string]int  // the restores that are folders, which come in place of a file
}

func (x *checkingOut) add(f git.CheckoutFile) error {
	if top := above(f.Path, x.goes); top != "" && f.New {
		return x.addBelow(top, f)
	}
	inFolder := above(f.Path, x.with) != ""
	p, err := x.place(x.snap, f.Path)
	if err != nil {
		return err
	}
	x.all = append(x.all, p)
	if f.Gone && !inFolder {
		c, err := change.NewDelete(x.snap, p, f.Folder)
		if err == nil && f.Folder {
			err = x.knows(f.Path, c)
		}
		if err != nil {
			return err
		}
		x.set.Tree = append(x.set.Tree, c)
	}
	switch {
	case f.New:
		x.set.Restores = append(x.set.Restores, change.Restore{Path: p, State: contentOf(f), Fresh: true})
	case !inFolder:
		x.gone = append(x.gone, p)
	}
	return nil
}

// above is the path above name that is among these, "" if none is.
func above(name string, these map[string]bool) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if these[dir] {
			return dir
		}
	}
	return ""
}

func contentOf(f git.CheckoutFile) journal.State {
	if f.Link {
		return journal.State{Type: journal.TypeSymlink, Link: string(f.Data), Mode: f.Mode()}
	}
	return journal.State{Type: journal.TypeFile, Data: f.Data, Mode: f.Mode()}
}

// addBelow adds a file of a folder that comes in place of a file or link: as one with all
// others that it will hold.
func (x *checkingOut) addBelow(top string, f git.CheckoutFile) error {
	p, err := x.place(x.snap, top)
	if err != nil {
		return err
	}
	rest := strings.TrimPrefix(f.Path, top+"/")
	if err := unprotected(p.Join(rest)); err != nil {
		return err
	}
	folder := journal.State{Type: journal.TypeDirectory, Mode: fs.ModeDir | 0o777}
	at, known := x.folders[top]
	if !known {
		at = len(x.set.Restores)
		x.folders[top] = at
		x.set.Restores = append(x.set.Restores, change.Restore{Path: p, State: folder, Fresh: true})
	}
	st := &x.set.Restores[at].State
	for i, c := range rest {
		if c == '/' && !slices.ContainsFunc(st.Children, func(c journal.Child) bool { return c.Name == rest[:i] }) {
			st.Children = append(st.Children, journal.Child{Name: rest[:i], State: folder})
		}
	}
	st.Children = append(st.Children, journal.Child{Name: rest, State: contentOf(f)})
	x.all = append(x.all, p.Join(rest))
	return nil
}

// knows refuses to take a folder away that holds anything that git does not know.
func (x *checkingOut) knows(name string, c change.TreeChange) error {
	var lost []string
	for _, n := range c.Was.Nodes[1:] {
		if at := path.Join(name, n.Rel); !n.Mode.IsDir() && !x.goes[at] {
			lost = append(lost, at)
		}
	}
	for _, f := range c.Open {
		if f.Dirty {
			lost = append(lost, f.Path.String())
		}
	}
	if len(lost) == 0 {
		return nil
	}
	const most = 20
	return fault.New(fault.WorkTreeDirty, "by switching to %s changes would be lost in %s", fault.Quote(x.Name), strings.Join(quoteAll(lost[:min(most, len(lost))]), ", ")).
		With("paths", lost).WithHint("commit them first, or ask the human what is to become of them")
}

// place is a file of the repository as one of the workspace: itself, by no link.
func (b branchPlan) place(snap *document.Snapshot, name string) (workspace.Path, error) {
	p, ok := snap.Workspace().Place(filepath.Join(b.Top, filepath.FromSlash(name)))
	if !ok {
		return p, fault.New(fault.GitError, "the switch changes %s, which lies outside of the workspace folder; without a git program Pillion changes nothing there", fault.Quote(name)).
			WithHint("ask the human to install git, or to make the switch")
	}
	if err := unprotected(p); err != nil {
		return p, err
	}
	entry, err := p.Entry()
	if err == nil && entry != p {
		err = fault.New(fault.GitError, "%s is reached by a link; without a git program Pillion changes nothing there", fault.Quote(name))
	}
	return p, err
}

func unprotected(p workspace.Path) error {
	if reason, denied := policy.Protected(p.Rel()); denied {
		return fault.New(fault.GitError, "Pillion writes no such file as the switch brings: %s", reason).WithHint("ask the human to look at that branch")
	}
	return nil
}

// emptied are the folders in which nothing is left, the innermost first.
func emptied(gone []workspace.Path, set change.Set) []workspace.Path {
	goes, comes, looked := map[workspace.Path]bool{}, map[workspace.Path]bool{}, map[workspace.Path]bool{}
	for _, p := range gone {
		goes[p] = true
	}
	for _, x := range set.Restores {
		for p := x.Path; !p.IsRoot(); p = p.Dir() {
			comes[p] = true
		}
	}
	var dirs, out []workspace.Path
	for _, p := range gone {
		for dir := p.Dir(); !dir.IsRoot() && !looked[dir]; dir = dir.Dir() {
			looked[dir] = true
			dirs = append(dirs, dir)
		}
	}
	depth := func(p workspace.Path) int { return strings.Count(path.Clean(p.Rel()), "/") }
	slices.SortStableFunc(dirs, func(x, y workspace.Path) int { return depth(y) - depth(x) })
	for _, dir := range dirs {
		entries, err := dir.ReadDir()
		stays := err != nil || comes[dir]
		for _, e := range entries {
			stays = stays || !goes[dir.Join(e.Name())]
		}
		if !stays {
			goes[dir] = true
			out = append(out, dir)
		}
	}
	return out
}
